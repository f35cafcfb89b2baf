#include "app/pages/search/trial_model.h"

#include "engine/base/error.h"
#include "widgets/theme/status.h"

namespace loom {
namespace {

QString plain(const std::string& text) {
  return QString::fromStdString(text);
}

QString shown(const Json& value) {
  if (value.is_string()) return plain(value.get<std::string>());
  if (value.is_number_float()) return QString::number(value.get<double>(), 'g', 4);
  return plain(value.dump());
}

int bestIn(const ShownSearch& search) {
  const ShownTrial* best = nullptr;
  for (const ShownTrial& each : search.trials) {
    if (!each.result) continue;
    if (!best || (search.plan.higher ? *each.result > *best->result : *each.result < *best->result)) best = &each;
  }
  return best ? best->number : 0;
}

TrialState stateOf(const std::string& key) {
  for (const TrialState each : {TrialState::running, TrialState::interrupted, TrialState::done, TrialState::weak})
    if (key == toKey(each)) return each;
  return TrialState::failed;
}

std::pair<Status, QString> statusOf(TrialState state) {
  switch (state) {
    case TrialState::running:
      return {Status::running, TrialModel::tr("Running")};
    case TrialState::interrupted:
      return {Status::paused, TrialModel::tr("Waits")};
    case TrialState::done:
      return {Status::ok, TrialModel::tr("Finished")};
    case TrialState::weak:
      return {Status::stopped, TrialModel::tr("Ended early")};
    case TrialState::failed:
      break;
  }
  return {Status::failed, TrialModel::tr("Failed")};
}

}  // namespace

ShownSearch shownSearch(const Study& study) {
  ShownSearch search{.plan = study.plan, .trials = {}, .best = 0};
  for (const auto& each : study.trials) {
    const Trial& trial = each->trial();
    ShownTrial row{.number = trial.number,
                   .folder = plain(each->folder().filename().string()),
                   .values = {},
                   .state = trial.state,
                   .result = {},
                   .spent = trial.spent,
                   .message = plain(each->file().message)};
    for (const Json& value : trial.point) row.values << shown(value);
    if (const double score = trial.score(); !std::isnan(score)) row.result = study.plan.higher ? score : -score;
    search.trials.push_back(std::move(row));
  }
  search.best = bestIn(search);
  return search;
}

std::optional<ShownSearch> shownSearch(const Json& file) {
  try {
    ShownSearch search{.plan = planFromJson(file.at("search")), .trials = {}, .best = 0};
    for (const Json& each : file.at("trials")) {
      ShownTrial row{.number = each.at("number"),
                     .folder = plain(each.at("run").get<std::string>()),
                     .values = {},
                     .state = stateOf(each.at("state")),
                     .result = {},
                     .spent = each.at("spent"),
                     .message = {}};
      // Nobody drives it: what went then has stopped, or goes on as a run like any other.
      if (row.state == TrialState::running) row.state = TrialState::interrupted;
      for (const Json& value : each.at("values")) row.values << shown(value);
      if (each.contains("result")) row.result = each["result"].get<double>();
      if (row.values.size() == static_cast<qsizetype>(search.plan.space.size()))
        search.trials.push_back(std::move(row));
    }
    search.best = bestIn(search);
    return search;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool TrialModel::setSearch(ShownSearch search) {
  const bool same = search.plan.name == m_search.plan.name && search.plan.space == m_search.plan.space &&
                    search.trials.size() >= m_search.trials.size();
  if (!same) {
    beginResetModel();
    m_search = std::move(search);
    endResetModel();
    return true;
  }
  const int before = rowCount(), now = static_cast<int>(search.trials.size());
  if (now > before) beginInsertRows({}, before, now - 1);
  m_search = std::move(search);
  if (now > before) endInsertRows();
  if (before > 0) Q_EMIT dataChanged(index(0, 0), index(before - 1, columnCount() - 1));
  return false;
}

std::vector<TableColumn> TrialModel::columns() const {
  std::vector<TableColumn> all = {{tr("Trial"), ColumnKind::number, 64}, {tr("State"), ColumnKind::status, 120}};
  for (const Dimension& each : m_search.plan.space) {
    std::string words = shortKey(each.key);
    if (words.starts_with("optimizer.")) words = words.substr(words.find('.') + 1);
    all.push_back({plain(words), ColumnKind::number, std::max(80, 28 + 8 * static_cast<int>(words.size())), true});
  }
  all.push_back({m_search.plan.metric.empty() ? tr("Result") : tr("Best %1").arg(plain(m_search.plan.metric)),
                 ColumnKind::number, 140});
  all.push_back({tr("Steps"), ColumnKind::number, 80});
  return all;
}

int TrialModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_search.trials.size());
}

int TrialModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : resultColumn() + 2;
}

QString TrialModel::text(const ShownTrial& trial, int column) const {
  if (column == 0) return QString::number(trial.number);
  if (column == 1) return statusOf(trial.state).second;
  if (column < resultColumn()) return trial.values[column - 2];
  if (column == resultColumn()) return trial.result ? plain(resultText(m_search.plan, *trial.result)) : QString();
  return tr("%1 %").arg(qRound(trial.spent * 100));
}

QVariant TrialModel::data(const QModelIndex& index, int role) const {
  const ShownTrial& trial = m_search.trials[static_cast<std::size_t>(index.row())];
  const int column = index.column();
  const bool best = trial.number == m_search.best;
  switch (role) {
    case Qt::DisplayRole:
      return text(trial, column);
    case Qt::ToolTipRole:
      return column == 1 && !trial.message.isEmpty() ? trial.message : QVariant();
    case folderRole:
      return trial.folder;
    case kStatusRole:
      return column == 1 ? QVariant(static_cast<int>(statusOf(trial.state).first)) : QVariant();
    case kRemarkRole:
      return column == resultColumn() && best ? tr("best") : QVariant();
    case kStrongRole:
      return best;
    case kToneRole:
      return static_cast<int>(best && column == resultColumn()  ? Tone::ok
                              : trial.state == TrialState::weak ? Tone::quiet
                                                                : Tone::normal);
    case kSortRole: {
      if (column == 0) return trial.number;
      if (column == 1) return static_cast<int>(trial.state);
      if (column == resultColumn()) return trial.result ? QVariant(*trial.result) : QVariant();
      if (column > resultColumn()) return trial.spent;
      bool number = false;
      const double value = trial.values[column - 2].toDouble(&number);
      return number ? QVariant(value) : QVariant(trial.values[column - 2]);
    }
    default:
      return {};
  }
}

QVariant TrialModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
  return columns()[static_cast<std::size_t>(section)].title;
}

}  // namespace loom
