#pragma once
// The bottom line: problems | jobs | host | words of the page || memory | version. Every part is a button.
#include <QFrame>
#include <QTimer>

namespace loom {

class Button;
class Workspace;

class StatusStrip : public QFrame {
  Q_OBJECT

 public:
  explicit StatusStrip(Workspace& workspace, QWidget* parent = nullptr);
  void setProblems(int errors, int warnings);
  void setPageWords(const QString& words);
  void setJobs(int running, int waiting);
  void setHost(const QString& text, const QString& explanation);
  QString pageWords() const;

 Q_SIGNALS:
  void problemsWanted();
  void jobsWanted();
  void hostWanted();

 private:
  void refreshMemory();
  Button *m_problems, *m_jobs, *m_host, *m_words, *m_memory, *m_version;
  QWidget* m_wordsLine = nullptr;
  QTimer m_timer;
};

}  // namespace loom
