#include "app/pages/search/trial_model.h"

#include "engine/base/error.h"
#include "widgets/chart/format.h"
#include "widgets/theme/status.h"

namespace loom {
namespace {

QString plain(const std::string& text) {
  return QString::fromStdString(text);
}

QString shown(const Json& value) {
  if (value.is_string()) return plain(value.get<std::string>());
  if (value.is_number_float()) return formatShort(value.get<double>());
  return plain(value.dump());
}

void finish(ShownSearch& search) {
  const ShownTrial* best = nullptr;
  for (ShownTrial& each : search.trials) {
    for (const Json& value : each.point) each.values << shown(value);
    if (std::isnan(each.result)) continue;
    if (!best || (search.plan.higher ? each.result > best->result : each.result < best->result)) best = &each;
  }
  search.best = best ? best->number : 0;
  search.hasCosts = differInCost(search.rows());
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
  ShownSearch search{.plan = study.plan, .trials = {}, .best = 0, .refused = study.refused()};
  std::vector<TrialRow> rows = rowsOf(study);
  for (std::size_t i = 0; i < rows.size(); ++i)
    search.trials.push_back({std::move(rows[i]), {}, plain(study.trials[i]->file().message)});
  finish(search);
  return search;
}

std::optional<ShownSearch> shownSearch(const Json& file) {
  try {
    ShownSearch search{.plan = planFromJson(file.at("search")),
                       .trials = {},
                       .best = 0,
                       .refused = file.value("refused", std::int64_t{0})};
    for (const Json& each : file.at("trials")) {
      TrialRow row = rowFromJson(each);
      // Nobody drives it: what went then has stopped, or goes on as a run like any other.
      if (row.state == TrialState::running) row.state = TrialState::interrupted;
      if (row.point.size() == search.plan.space.size()) search.trials.push_back({std::move(row), {}, {}});
    }
    finish(search);
    return search;
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

const TrialCostKind* TrialModel::costOf(int column) const {
  const int place = column - stepsColumn() - 1;
  return place < 0 || !m_search.hasCosts ? nullptr : &costKinds()[static_cast<std::size_t>(place)];
}

bool TrialModel::setSearch(ShownSearch search) {
  const bool same = search.plan.name == m_search.plan.name && search.plan.space == m_search.plan.space &&
                    search.hasCosts == m_search.hasCosts && search.trials.size() >= m_search.trials.size();
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
  if (m_search.hasCosts)
    for (const TrialCostKind& each : costKinds()) all.push_back({tr(each.label), ColumnKind::number, 124});
  return all;
}

int TrialModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_search.trials.size());
}

int TrialModel::columnCount(const QModelIndex& parent) const {
  if (parent.isValid()) return 0;
  return resultColumn() + 2 + (m_search.hasCosts ? static_cast<int>(costKinds().size()) : 0);
}

QString TrialModel::text(const ShownTrial& trial, int column) const {
  if (column == 0) return QString::number(trial.number);
  if (column == 1) return statusOf(trial.state).second;
  if (column < resultColumn()) return trial.values[column - 2];
  if (column == resultColumn())
    return std::isnan(trial.result) ? QString() : plain(resultText(m_search.plan, trial.result));
  if (const TrialCostKind* const kind = costOf(column))
    return std::isnan(trial.cost.*kind->value) ? QString() : plain(costText(*kind, trial.cost.*kind->value));
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
      return plain(trial.run);
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
      if (column == resultColumn()) return std::isnan(trial.result) ? QVariant() : QVariant(trial.result);
      if (const TrialCostKind* const kind = costOf(column)) {
        const double cost = trial.cost.*kind->value;
        return std::isnan(cost) ? QVariant() : QVariant(cost);
      }
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
