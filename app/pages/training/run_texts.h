#pragma once
// The log of a run as it grows, and its settings as it was started beside those of the project now.
#include <QPlainTextEdit>
#include <QTableWidget>

#include "app/page.h"

namespace loom {

class RunLog : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit RunLog(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& id);
  void refresh();  // reads on; cheap when nothing came

 private:
  AppContext& m_context;
  QString m_path;
  qint64 m_offset = 0;
};

class RunSettings : public QTableWidget {
  Q_OBJECT

 public:
  explicit RunSettings(AppContext& context, QWidget* parent = nullptr);
  void setRun(const QString& id);

 private:
  AppContext& m_context;
  QString m_run;
};

}  // namespace loom
