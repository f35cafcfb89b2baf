#pragma once
// Where was I? Recent projects, drafts, and the samples; the page when no project is open.
#include <QHash>
#include <QPointer>

#include "app/page.h"
#include "app/project_facts.h"

class QScrollArea;
class QVBoxLayout;

namespace loom {

struct RunRecord;
class ProjectRow;
struct Draft;

class StartPage : public Page {
  Q_OBJECT

 public:
  explicit StartPage(AppContext& context, QWidget* parent = nullptr);
  void activated() override;
  QList<QWidget*> areas() const override;
  bool settled() const override { return !m_facts.busy(); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void rebuild();
  struct RunsOf {
    int all = 0, live = 0;
    const RunRecord* best = nullptr;
  };
  RunsOf runsOf(const QString& project) const;
  void addRecents();
  void addDrafts();
  void addSamples();
  // A row of `rows` with what is known of the file; buttons that stand beside it.
  ProjectRow* addRow(QVBoxLayout* rows, ProjectRow* row, const QString& path, const QList<QWidget*>& beside = {});
  void removeRecent(const QString& path);
  void discardDraft(const Draft& draft);

  QWidget *m_own, *m_recents, *m_drafts, *m_samples;
  QVBoxLayout *m_recentRows, *m_draftRows, *m_sampleRows;
  QScrollArea* m_scroll;
  QWidget* m_content;
  ProjectFactsKeeper m_facts;
  QHash<QString, QPointer<ProjectRow>> m_rows;  // by path
};

}  // namespace loom
