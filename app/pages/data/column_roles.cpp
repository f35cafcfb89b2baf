#include "app/pages/data/column_roles.h"

#include <QCoreApplication>
#include <algorithm>
#include <set>

#include "app/pages/data/known_columns.h"
#include "app/pages/data/step_edits.h"
#include "engine/network/flatten.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

struct ColumnRolesWords {
  Q_DECLARE_TR_FUNCTIONS(ColumnRolesWords)
};

bool isFile(const ColumnFacts& column) {
  return column.type == ColumnType::picture || column.type == ColumnType::sound || column.type == ColumnType::matrix;
}

bool holdsWords(const RolesRequest& request, const std::vector<std::string>& columns) {
  if (!request.preview) return false;
  for (const std::string& column : columns)
    for (const PreviewColumn* made : request.preview->of(column))
      if (!made->number) return true;
  return false;
}

void addVariables(const RolesRequest& request, ColumnRoles& roles) {
  for (const ColumnFacts& column : request.facts.columns) {
    if (column.header.empty() || column.header[0] == '#' || isLeftOut(request.prepare, column.name)) continue;
    const std::string joined = joinOf(request.prepare, column.name);
    roles.variables[column.name] = !joined.empty() ? joined : variableOfName(nameAfter(request.prepare, column.name));
  }
  if (!request.preview || request.preview->after.empty()) return;
  // What became several columns is several variables unless it was joined; the first one stands for it.
  std::map<std::string, std::string> found;
  for (const PreviewColumn& after : request.preview->after) found.emplace(after.origin, variableOfName(after.name));
  for (auto& [column, variable] : roles.variables)
    if (const auto known = found.find(column); known != found.end()) variable = known->second;
}

// Pictures of another size are brought to the network's, which may be trained already, rather than the other way round.
void bringToSize(const RolesRequest& request, const Shape& has, FeedLine& feed) {
  const Shape& wanted = feed.wanted;
  const ColumnFacts* const column = feed.columns.size() == 1 ? request.facts.find(feed.columns.front()) : nullptr;
  if (!column || column->type != ColumnType::picture || wanted.rank() != 3 || has.rank() != 3) return;
  if (has[0] != wanted[0] && wanted[0] != 1 && wanted[0] != 3) return;
  const Json variable = Json::array({feed.variable});
  if (has[0] != wanted[0])
    feed.steps.push_back({{"step", "Colours"}, {"to", wanted[0] == 3 ? "rgb" : "grey"}, {"variable", variable}});
  if (has[1] != wanted[1] || has[2] != wanted[2])
    feed.steps.push_back({{"step", "Resize"}, {"size", {wanted[1], wanted[2]}}, {"variable", variable}});
  feed.remedy = ColumnRolesWords::tr("Bring all to %1").arg(QString::fromStdString(wanted.toString()));
}

void addFeeds(const RolesRequest& request, ColumnRoles& roles) {
  const std::vector<std::string> targeted = targetVariables(request.project);
  std::set<std::pair<std::string, std::string>> told;
  for (const Network& drawn : request.project.networks) {
    const Network flat = flatten(request.project, drawn).network;
    for (const DatasetInput& input : datasetInputs(flat)) {
      if (!told.emplace(drawn.name, input.node).second) continue;
      FeedLine feed{.network = drawn.name,
                    .node = input.node,
                    .variable = input.variable,
                    .wanted = input.shape,
                    .shape = QString::fromStdString(input.shape.toString()) +
                             (input.type == DataType::i32 ? ColumnRolesWords::tr(", label") : QString()),
                    .vector = input.shape.rank() == 1 ? input.shape.elements() : 0,
                    .label = input.type == DataType::i32,
                    .target = std::find(targeted.begin(), targeted.end(), input.variable) != targeted.end(),
                    .columns = {},
                    .fault = {},
                    .remedy = {},
                    .offered = {},
                    .steps = {}};
      for (const ColumnFacts& column : request.facts.columns)
        if (const auto found = roles.variables.find(column.name);
            found != roles.variables.end() && found->second == input.variable)
          feed.columns.push_back(column.name);
      if (feed.columns.empty()) {
        feed.fault = ColumnRolesWords::tr("no column feeds %1").arg(QString::fromStdString(input.node));
      } else if (request.shapes) {
        const auto shape = request.shapes->find(input.variable);
        if (shape != request.shapes->end() && shape->second.elements() != input.shape.elements()) {
          feed.fault = ColumnRolesWords::tr("%1 wants %2, the columns give %3")
                           .arg(QString::fromStdString(input.node), QString::fromStdString(input.shape.toString()),
                                QString::fromStdString(shape->second.toString()));
          feed.remedy = ColumnRolesWords::tr("Make it %1").arg(QString::fromStdString(shape->second.toString()));
          bringToSize(request, shape->second, feed);
        }
      }
      if (feed.fault.isEmpty() && input.type == DataType::i32 && holdsWords(request, feed.columns))
        feed.fault = ColumnRolesWords::tr("%1 wants class numbers").arg(QString::fromStdString(input.node));
      roles.feeds.push_back(std::move(feed));
    }
  }
}

// Columns of files that no Input takes.
std::vector<std::string> freeFiles(const RolesRequest& request, const ColumnRoles& roles) {
  std::vector<std::string> columns;
  for (const ColumnFacts& column : request.facts.columns) {
    const bool taken = std::any_of(roles.feeds.begin(), roles.feeds.end(), [&](const FeedLine& feed) {
      return std::find(feed.columns.begin(), feed.columns.end(), column.name) != feed.columns.end();
    });
    if (isFile(column) && roles.variables.contains(column.name) && !taken) columns.push_back(column.name);
  }
  return columns;
}

// What a single target can take: the column that was chosen to be predicted, else the only free one of its kind. Empty:
// there is none, or several, among which a person chooses.
std::vector<std::string> freeTargets(const RolesRequest& request, const ColumnRoles& roles, const FeedLine& feed) {
  std::vector<std::string> columns;
  for (const ColumnFacts& column : request.facts.columns) {
    const bool taken = std::any_of(roles.feeds.begin(), roles.feeds.end(), [&](const FeedLine& each) {
      return std::find(each.columns.begin(), each.columns.end(), column.name) != each.columns.end();
    });
    if (taken || isFile(column) || !roles.variables.contains(column.name)) continue;
    if (std::find(roles.targets.begin(), roles.targets.end(), column.name) != roles.targets.end()) return {column.name};
    if (column.type == (feed.label ? ColumnType::classes : ColumnType::number)) columns.push_back(column.name);
  }
  return columns.size() == 1 ? columns : std::vector<std::string>();
}

// An Input without a column takes all numbers that are free, where it is a vector; else the one picture or sound. A
// target takes what can only be meant.
void offerColumns(const RolesRequest& request, ColumnRoles& roles) {
  for (FeedLine& feed : roles.feeds) {
    if (!feed.columns.empty()) continue;
    if (feed.target) {
      if (feed.wanted.elements() != 1) continue;
      feed.offered = freeTargets(request, roles, feed);
      if (!feed.offered.empty())
        feed.remedy = ColumnRolesWords::tr("Feed it with %1").arg(QString::fromStdString(feed.offered.front()));
      continue;
    }
    if (feed.wanted.rank() > 1) {
      feed.offered = freeFiles(request, roles);
      if (feed.offered.size() == 1)
        feed.remedy = ColumnRolesWords::tr("Feed it with %1").arg(QString::fromStdString(feed.offered.front()));
      else
        feed.offered.clear();
    }
    if (feed.vector < 2) continue;
    feed.offered = joinable(request, roles, feed.variable);
    if (!feed.offered.empty())
      feed.remedy = ColumnRolesWords::tr("Feed it with %1")
                        .arg(counted(static_cast<qint64>(feed.offered.size()), ColumnRolesWords::tr("columns")));
  }
}

}  // namespace

std::string variableOfName(const std::string& name) {
  const auto at = name.rfind("__");
  const bool element = at != std::string::npos && at > 0 && at + 2 < name.size() &&
                       name.find_first_not_of("0123456789", at + 2) == std::string::npos;
  return element ? name.substr(0, at) : name;
}

ColumnRoles columnRoles(const RolesRequest& request) {
  ColumnRoles roles;
  addVariables(request, roles);
  addFeeds(request, roles);
  for (const FeedLine& feed : roles.feeds)
    if (feed.target) roles.targets.insert(roles.targets.end(), feed.columns.begin(), feed.columns.end());
  if (const auto chosen = request.dataset.extra.find("target");
      roles.targets.empty() && chosen != request.dataset.extra.end() && chosen->is_string() &&
      request.facts.find(chosen->get<std::string>()))
    roles.targets.push_back(*chosen);
  for (const ColumnFacts& column : request.facts.columns) {
    ColumnMark& mark = roles.marks[column.name];
    mark.leftOut = !roles.variables.contains(column.name);
    if (const std::string name = nameAfter(request.prepare, column.name); name != column.name)
      mark.name = QString::fromStdString(name);
    mark.target = std::find(roles.targets.begin(), roles.targets.end(), column.name) != roles.targets.end();
    QStringList inputs;
    for (const FeedLine& feed : roles.feeds)
      if (std::find(feed.columns.begin(), feed.columns.end(), column.name) != feed.columns.end())
        inputs << QString::fromStdString(feed.node);
    inputs.removeDuplicates();
    if (!inputs.isEmpty()) mark.use = ColumnRolesWords::tr("feeds %1").arg(inputs.join(QStringLiteral(", ")));
  }
  offerColumns(request, roles);
  return roles;
}

std::vector<std::string> joinable(const RolesRequest& request, const ColumnRoles& roles, const std::string& variable) {
  std::set<std::string> taken;
  for (const FeedLine& feed : roles.feeds)
    if (feed.variable != variable) taken.insert(feed.columns.begin(), feed.columns.end());
  std::vector<std::string> columns;
  for (const ColumnFacts& column : request.facts.columns) {
    if (!roles.variables.contains(column.name) || isFile(column) || taken.contains(column.name)) continue;
    if (std::find(roles.targets.begin(), roles.targets.end(), column.name) != roles.targets.end()) continue;
    if (request.preview && !request.preview->after.empty()) {
      const auto made = request.preview->of(column.name);
      if (made.empty() || std::any_of(made.begin(), made.end(), [](const PreviewColumn* one) { return !one->number; }))
        continue;
    }
    columns.push_back(column.name);
  }
  return columns;
}

}  // namespace loom
