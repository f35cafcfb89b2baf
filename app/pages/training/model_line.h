#pragma once
// Where is my model? The best checkpoint of a run: its path here, or where it lies on its host and the click that
// brings it.
#include <QWidget>

#include "app/page.h"

class QLabel;

namespace loom {

class Button;

class ModelLine : public QWidget {
  Q_OBJECT

 public:
  explicit ModelLine(AppContext& context, QWidget* parent = nullptr);
  // Looks into the run's folder: not for every point.
  void refresh(const QString& run);
  // Of the best checkpoint, as it was found at the last refresh; -1 = there is none. A better value is measured a
  // moment before its weights are written.
  std::int64_t bestStep() const { return m_bestStep; }

 private:
  void resumeOn(const QString& host);  // empty = here
  void chooseWhere();

  AppContext& m_context;
  QString m_run, m_path, m_fault;
  std::int64_t m_bestStep = -1;
  QString m_resumes, m_goesTo;  // the run that goes on when its checkpoint has come, and on which host
  QLabel *m_title, *m_place;
  Button *m_fetch, *m_resumeHere, *m_resumeOn, *m_copy, *m_show;
};

}  // namespace loom
