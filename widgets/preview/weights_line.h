#pragma once
// Whose weights something was computed with: words, and where there are others to choose, a link that opens the choice.
// Words that find no room end in "…" and stand whole in the tooltip.
#include <QWidget>

class QLabel;

namespace loom {

class Button;

class WeightsLine : public QWidget {
  Q_OBJECT

 public:
  explicit WeightsLine(const QString& name, QWidget* parent = nullptr);
  void setWords(const QString& words, bool others);

 Q_SIGNALS:
  void othersWanted(QWidget* below);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void elide();
  QString m_words;
  QLabel* m_label;
  Button* m_choose;
};

}  // namespace loom
