#pragma once
// What a page shows while it has nothing: a drawn figure of what will be here, one sentence, one button, one link.
#include <QWidget>

class QLabel;

namespace loom {

class Button;

enum class Figure { chain, curves, table, samples, hosts };

class EmptyState : public QWidget {
  Q_OBJECT

 public:
  EmptyState(Figure figure, const QString& sentence, QWidget* parent = nullptr);

  // Empty text = none.
  void setAction(const QString& iconName, const QString& text);
  void setLink(const QString& text);
  void setSentence(const QString& sentence);
  Button* actionButton() { return m_action; }
  Button* linkButton() { return m_link; }

 Q_SIGNALS:
  void actionTriggered();
  void linkTriggered();

 private:
  QLabel* m_sentence;
  Button* m_action;
  Button* m_link;
};

}  // namespace loom
