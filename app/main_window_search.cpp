// What Ctrl+K finds: commands, runs, projects, hosts, and what the pages know.
#include <QFileInfo>
#include <algorithm>

#include "app/host_checks.h"
#include "app/main_window.h"
#include "app/pages/page_table.h"
#include "app/preferences.h"
#include "app/shell/actions.h"
#include "app/shell/search_panel.h"
#include "widgets/theme/icon.h"

namespace loom {
namespace {

constexpr int kPerGroup = 5, kOfOneGroup = 10;
constexpr int kByOtherWords = 9;
constexpr int kKnownByPage =
    5;  // what a page says it found counts, even where its words do not match: it may know other names

// Best first inside a group; groups in the order of their best hit.
QList<SearchHit> inGroups(QList<std::pair<int, SearchHit>> found) {
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  QStringList groups;
  for (const auto& [score, hit] : found)
    if (!groups.contains(hit.group)) groups << hit.group;
  QList<SearchHit> hits;
  for (const QString& group : groups) {
    int shown = 0;
    for (const auto& [score, hit] : found)
      if (hit.group == group && ++shown <= (groups.size() > 1 ? kPerGroup : kOfOneGroup)) hits << hit;
  }
  return hits;
}

}  // namespace

QList<SearchHit> MainWindow::find(const QString& query) {
  QList<std::pair<int, SearchHit>> found;
  const auto consider = [&](const SearchHit& hit) {
    if (const int score = matchScore(hit.text, query)) found.append({score, hit});
  };
  const auto command = [&](const QString& group, QAction* action) {
    const SearchHit hit{group, action->text(), action->shortcut().toString(QKeySequence::NativeText), action->icon(),
                        [action] { action->trigger(); }};
    // Other words count less than its own.
    const QString all = hit.text + QLatin1Char(' ') + m_commands->spec(Commands::idOf(*action)).alsoFoundBy;
    const int score = std::max(matchScore(hit.text, query), std::min(matchScore(all, query), kByOtherWords));
    if (score) found.append({score, hit});
  };
  m_actions->refresh();
  for (QAction* action : m_commands->ofScope({}))
    if (action->isEnabled()) command(tr("Commands"), action);
  if (page(m_current))
    for (QAction* action : m_commands->all())
      if (const CommandSpec& spec = m_commands->spec(Commands::idOf(*action));
          !spec.scope.isEmpty() && scopesMeet(spec.scope, m_current) && m_commands->isPossible(spec.id))
        command(spec.group, action);
  for (const RunRecord& run : m_workspace.runs())
    consider({tr("Runs"), run.name, toText(run.state), icon("runs"),
              [this, id = run.id] { go({.page = "training", .run = id}); }});
  for (const RecentProject& recent : m_workspace.preferences().recentProjects())
    consider({tr("Projects"), QFileInfo(recent.path).completeBaseName(), QFileInfo(recent.path).absolutePath(),
              icon("file"), [this, path = recent.path] { openProject(path); }});
  for (const Host& host : m_workspace.hosts().hosts())
    consider({tr("Hosts"), host.name, m_workspace.checks().sign(host.id).words, icon("host"),
              [this, id = host.id] { go({.page = "hosts", .host = id}); }});
  // Pages know their own things, also one that was not looked at yet. What is chosen there is done in front of the
  // person.
  if (query.size() >= 2 && m_workspace.document()) {
    for (const PageEntry& entry : pageTable()) {
      if (!entry.searched) continue;
      const QString id = QString::fromLatin1(entry.id);
      for (SearchHit& hit : page(id) ? page(id)->search(query) : makePage(entry).search(query)) {
        hit.act = [this, id, act = hit.act] {
          showPage(id);
          act();
        };
        found.append({std::max(matchScore(hit.text, query), kKnownByPage), hit});
      }
    }
  }
  return inGroups(std::move(found));
}

}  // namespace loom
