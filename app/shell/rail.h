#pragma once
// The pages, one below the other, and help and preferences at the foot. Narrow windows show the icons alone.
#include <QAbstractButton>
#include <QFrame>
#include <QHash>

namespace loom {

class RailButton : public QAbstractButton {
  Q_OBJECT

 public:
  RailButton(const QString& iconName, const QString& text, QWidget* parent = nullptr);
  enum class Mark { none, live, error };
  void setMark(Mark mark);
  void setNarrow(bool narrow);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QString m_icon;
  Mark m_mark = Mark::none;
  bool m_narrow = false;
};

class Rail : public QFrame {
  Q_OBJECT

 public:
  explicit Rail(QWidget* parent = nullptr);
  void setCurrent(const QString& page);
  void setMark(const QString& page, RailButton::Mark mark);
  void setEnabledPages(bool projectOpen);
  void setNarrow(bool narrow);
  RailButton* button(const QString& page) const { return m_buttons.value(page); }
  QAbstractButton* helpButton() const { return m_help; }
  QAbstractButton* preferencesButton() const { return m_preferences; }

 Q_SIGNALS:
  void pageWanted(const QString& page);
  void helpWanted();
  void preferencesWanted();

 private:
  QHash<QString, RailButton*> m_buttons;
  RailButton *m_help, *m_preferences;
};

}  // namespace loom
