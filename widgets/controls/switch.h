#pragma once
// A switch for what holds at once, with the word On or Off (or another) beside it.
#include <QAbstractButton>
#include <QVariantAnimation>

namespace loom {

class Switch : public QAbstractButton {
  Q_OBJECT

 public:
  // Without words the switch stands alone and its label is the layout's business.
  enum class Words { none, onOff };
  explicit Switch(Words words = Words::onOff, QWidget* parent = nullptr);
  // A switch with its label at the right: "Log loss".
  explicit Switch(const QString& label, QWidget* parent = nullptr);

  // Neither on nor off, as several that differ are: the knob stands in the middle. A click ends it and switches on.
  void setMixed(bool mixed);
  bool isMixed() const { return m_mixed; }

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return sizeHint(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void nextCheckState() override;
  bool hitButton(const QPoint& position) const override { return rect().contains(position); }

 private:
  void init();
  QString words() const;
  Words m_words;
  QVariantAnimation m_knob;
  bool m_mixed = false;
};

}  // namespace loom
