// What stands in a group's row, and what its runs' rows say beside what they say by themselves.
#include <algorithm>
#include <cmath>

#include "app/pages/runs/run_rows.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

const QString kNone = QStringLiteral("–");

// As many decimals as two digits of the spread need.
int decimalsFor(double spread) {
  if (!(spread > 0) || !std::isfinite(spread)) return 2;
  return std::clamp(1 - static_cast<int>(std::floor(std::log10(spread))), 0, 8);
}

}  // namespace

QModelIndex RunRows::index(int row, int column, const QModelIndex& parent) const {
  return hasIndex(row, column, parent) ? createIndex(row, column) : QModelIndex();
}

int RunRows::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}
int RunRows::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : m_model.columnCount();
}

QModelIndex RunRows::mapToSource(const QModelIndex& index) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = m_rows[static_cast<std::size_t>(index.row())];
  return row.place < 0 ? QModelIndex() : m_model.index(sourceRow(row.place), index.column());
}

QModelIndex RunRows::mapFromSource(const QModelIndex& index) const {
  if (!index.isValid()) return {};
  const int place = m_model.count() - 1 - index.row();
  const auto at = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) { return row.place == place; });
  return at == m_rows.end() ? QModelIndex() : this->index(static_cast<int>(at - m_rows.begin()), index.column());
}

QStringList RunRows::runsOf(int row) const {
  if (row < 0 || row >= rowCount()) return {};
  const Row& at = m_rows[static_cast<std::size_t>(row)];
  if (at.place >= 0) return {run(at.place).id};
  QStringList ids;
  for (const int each : at.top->members) ids << run(each).id;
  return ids;
}

int RunRows::rowOf(const QString& id) const {
  const int source = m_model.rowOf(id), place = m_model.count() - 1 - source;
  if (source >= 0 && (place >= std::ssize(m_topOf) || !m_topOf[static_cast<std::size_t>(place)])) return -1;
  const auto at = std::find_if(m_rows.begin(), m_rows.end(), [&](const Row& row) {
    return source >= 0 ? row.place == place : row.place < 0 && row.top->id == id;
  });
  return at == m_rows.end() ? -1 : static_cast<int>(at - m_rows.begin());
}

// Rows that are ticked: the mean of a group where it has one, and each run that stands for itself.
void RunRows::forEachTicked(
    const std::function<void(const Top& top, int place, std::optional<double> best)>& look) const {
  for (const auto& top : m_tops) {
    const auto shown = [this](int place) { return m_model.isShown(run(place).id); };
    const bool isMean = std::count_if(top->averaged.begin(), top->averaged.end(), shown) > 1;
    if (isMean) look(*top, -1, top->best.mean);
    for (const int each : top->members) {
      const std::vector<int>& mean = top->averaged;
      if (!shown(each) || (isMean && std::find(mean.begin(), mean.end(), each) != mean.end())) continue;
      const RunRecord& record = run(each);
      look(*top, each, record.bestStep >= 0 ? std::optional(record.best) : std::nullopt);
    }
  }
}

std::size_t RunRows::ticked() const {
  std::size_t count = 0;
  forEachTicked([&](const Top&, int, std::optional<double>) { ++count; });
  return count;
}

RunRows::Drawn RunRows::drawnOf(const Top& top, int place, std::optional<double> best) const {
  if (place >= 0) {
    const RunRecord& each = run(place);
    return {each.id, each.name, each.colour, {each.id}, best};
  }
  Drawn mean{top.id, groupText(top, RunsModel::name), run(top.members.front()).colour, {}, best};
  for (const int each : top.averaged)
    if (m_model.isShown(run(each).id)) mean.runs << run(each).id;
  return mean;
}

// The best, in the order of the table; what was not measured comes after all that was.
std::vector<RunRows::Drawn> RunRows::drawn(std::size_t most, Better better) const {
  struct Ticked {
    const Top* top;
    int place;
    std::optional<double> best;
  };
  std::vector<Ticked> all;
  forEachTicked([&](const Top& top, int place, std::optional<double> best) { all.push_back({&top, place, best}); });
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  if (order.size() > most) {
    const auto value = [&](std::size_t i) {
      const double none = std::numeric_limits<double>::infinity();
      return !all[i].best || std::isnan(*all[i].best) ? none : better == Better::higher ? -*all[i].best : *all[i].best;
    };
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                     [&](std::size_t a, std::size_t b) { return std::pair(value(a), a) < std::pair(value(b), b); });
    order.resize(most);
    std::sort(order.begin(), order.end());
  }
  std::vector<Drawn> drawn;
  for (const std::size_t each : order) drawn.push_back(drawnOf(*all[each].top, all[each].place, all[each].best));
  return drawn;
}

QString RunRows::bestText(const QString& group) const {
  for (const auto& top : m_tops)
    if (top->id == group) return (groupText(*top, RunsModel::best) + ' ' + spreadText(*top)).trimmed();
  return {};
}

std::optional<double> RunRows::spreadOf(int row) const {
  if (row < 0 || row >= rowCount()) return {};
  const Row& at = m_rows[static_cast<std::size_t>(row)];
  return at.place < 0 && at.top->averaged.size() > 1 ? std::optional(at.top->best.spread) : std::nullopt;
}

Qt::CheckState RunRows::shownOf(const Top& top) const {
  std::size_t shown = 0;
  for (const int each : top.members) shown += m_model.isShown(run(each).id);
  return shown == 0 ? Qt::Unchecked : shown == top.members.size() ? Qt::Checked : Qt::PartiallyChecked;
}

Qt::CheckState RunRows::allShown() const {
  if (!m_model.hidesAny()) return m_tops.empty() ? Qt::Unchecked : Qt::Checked;
  bool any = false, all = !m_tops.empty();
  for (const auto& top : m_tops) {
    const Qt::CheckState state = shownOf(*top);
    any = any || state != Qt::Unchecked;
    all = all && state == Qt::Checked;
    if (any && !all) return Qt::PartiallyChecked;
  }
  return all ? Qt::Checked : Qt::Unchecked;
}

void RunRows::setAllShown(bool shown) {
  QStringList ids;
  for (const auto& top : m_tops)
    for (const int each : top->members) ids << run(each).id;
  m_model.setShown(ids, shown);
}

QVariant RunRows::headerData(int section, Qt::Orientation orientation, int role) const {
  if (section == RunsModel::name && role == Qt::DisplayRole && m_grouped) return tr("Group");
  return m_model.headerData(section, orientation, role);
}

Qt::ItemFlags RunRows::flags(const QModelIndex& index) const {
  const QModelIndex source = mapToSource(index);
  if (source.isValid()) return m_model.flags(source);
  return index.isValid() ? Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemNeverHasChildren : Qt::NoItemFlags;
}

bool RunRows::setData(const QModelIndex& index, const QVariant& value, int role) {
  const QModelIndex source = mapToSource(index);
  if (source.isValid()) return m_model.setData(source, value, role);
  if (!index.isValid() || role != Qt::CheckStateRole || index.column() != RunsModel::shown) return false;
  m_model.setShown(runsOf(index.row()), value.toInt() == Qt::Checked);
  return true;
}

QVariant RunRows::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  const Row& row = m_rows[static_cast<std::size_t>(index.row())];
  if (row.place < 0) return groupData(*row.top, index.column(), role);
  if (m_grouped) {
    const QVariant own = insideData(*row.top, row.place, index.column(), role);
    if (own.isValid()) return own;
  }
  if (role == kSwatchRole && index.column() == RunsModel::colour) {
    const RunRecord& own = run(row.place);
    const std::vector<int>& mean = row.top->averaged;
    if (m_model.isShown(own.id) && std::find(mean.begin(), mean.end(), row.place) != mean.end())
      return groupColour(*row.top);
    return m_model.isShown(own.id) ? QVariant(colourOf(own.id, own.colour)) : QVariant();
  }
  return m_model.data(m_model.index(sourceRow(row.place), index.column()), role);
}

// A run in a group: its seed, its dot, and why it is not in the mean.
QVariant RunRows::insideData(const Top& top, int place, int column, int role) const {
  const bool inside = top.isGroup();
  if (role == kLevelRole) return inside && column == RunsModel::name ? QVariant(int(Level::inside)) : QVariant();
  if (column == RunsModel::runs) {
    const QString seed = seedOf(run(place));
    if (role == Qt::DisplayRole) return seed.isEmpty() ? QString() : tr("seed %1").arg(seed);
    if (role == kToneRole) return static_cast<int>(Tone::quiet);
  }
  if (column != RunsModel::seeds) return {};
  const auto at = std::find(top.members.begin(), top.members.end(), place) - top.members.begin();
  const QString reason = inside ? top.reasons[static_cast<std::size_t>(at)] : QString();
  if (role == Qt::DisplayRole || role == Qt::AccessibleTextRole)
    return reason.isEmpty() ? QString() : tr("left out: %1").arg(reason);
  if (role == Qt::ToolTipRole && !reason.isEmpty())
    return tr("It is shown and stays out of the mean of its group: %1.").arg(reason);
  if (role == kDotsRole && reason.isEmpty() && run(place).bestStep >= 0) return dots({place});
  if (role == kSwatchRole) return m_model.isShown(run(place).id) ? groupColour(top) : QVariant();
  return {};
}

QVariant RunRows::groupColour(const Top& top) const {
  return colourOf(top.id, run(top.members.front()).colour);
}

QVariant RunRows::dots(const std::vector<int>& places) const {
  if (!m_axis) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const auto& top : m_tops)
      for (const int each : top->isGroup() ? top->averaged : top->members) {
        if (run(each).bestStep < 0 || run(each).metric != m_model.metric()) continue;
        low = std::min(low, run(each).best);
        high = std::max(high, run(each).best);
      }
    m_axis = {low, high};
  }
  const auto& [low, high] = *m_axis;
  QList<double> shares;
  for (const int each : places)
    shares << (high > low ? std::clamp((run(each).best - low) / (high - low), 0.0, 1.0) : 0.5);
  return QVariant::fromValue(shares);
}

QString RunRows::spreadText(const Top& top) const {
  if (top.averaged.size() < 2) return {};
  const bool percent = m_metrics.kind(run(top.averaged.front())) == ValueKind::accuracy;
  const double factor = percent ? 100 : 1;
  const int decimals = decimalsFor(top.best.spread * factor);
  if (m_spread == Spread::range)
    return tr("%1 to %2")
        .arg(formatFixed(top.best.low * factor, decimals), formatFixed(top.best.high * factor, decimals));
  return QStringLiteral("± ") + formatFixed(top.best.spread * factor, decimals);
}

// "± 0.14", behind the metric's name where the column's head is another's.
QString RunRows::remarkOf(const Top& top, int column) const {
  if (top.averaged.empty()) return {};
  const QString other = m_model.index(sourceRow(top.averaged.front()), column).data(kRemarkRole).toString();
  return column == RunsModel::best ? QString(other + ' ' + spreadText(top)).trimmed() : other;
}

// The state of all, or how many are in one that no mean is made of: the worst first.
QVariant RunRows::groupState(const Top& top, bool words) const {
  for (const RunState state : {RunState::failed, RunState::stopped, RunState::running, RunState::starting,
                               RunState::stopping, RunState::queued}) {
    const auto count =
        std::count_if(top.members.begin(), top.members.end(), [&](int each) { return run(each).state == state; });
    if (count == 0) continue;
    return words ? QVariant(tr("%1 %2").arg(count).arg(toText(state).toLower()))
                 : QVariant(static_cast<int>(statusOf(state)));
  }
  const std::size_t left = top.members.size() - top.averaged.size();
  if (left > 0) return words ? QVariant(tr("%1 not averaged").arg(left)) : QVariant(static_cast<int>(Status::warning));
  return words ? QVariant(toText(RunState::finished)) : QVariant(static_cast<int>(Status::ok));
}

QString RunRows::groupText(const Top& top, int column) const {
  const RunRecord& first = run(top.members.front());
  const bool any = !top.averaged.empty();
  switch (column) {
    case RunsModel::name:
      return nameWithoutSeed(first.name);
    case RunsModel::runs:
      return QString::number(top.members.size());
    case RunsModel::state:
      return groupState(top, true).toString();
    case RunsModel::best:
      return any ? m_metrics.number(run(top.averaged.front()), top.best.mean) : kNone;
    case RunsModel::seeds:
      return any ? QString() : tr("none averaged");
    case RunsModel::bestEpoch:
      return any && std::isfinite(top.bestEpoch) ? QString::number(std::round(top.bestEpoch * 10) / 10) : kNone;
    case RunsModel::last:
      return any ? m_metrics.number(run(top.averaged.front()), top.last) : kNone;
    case RunsModel::loss:
      return any ? formatLoss(top.loss) : kNone;
    case RunsModel::duration:
      return any ? formatDuration(top.duration, true) : kNone;
    case RunsModel::tags:
    case RunsModel::note:
    case RunsModel::shown:
    case RunsModel::colour:
      return {};
    default:  // the same for all of them
      return m_model.index(sourceRow(top.members.front()), column).data().toString();
  }
}

QString RunRows::meaningOfSpread(const Top& top) const {
  const QString runs = counted(static_cast<qint64>(top.averaged.size()), tr("runs"));
  return m_spread == Spread::deviation ? tr("Mean of %1 and standard deviation (n − 1)").arg(runs)
         : m_spread == Spread::error   ? tr("Mean of %1 and its standard error").arg(runs)
                                       : tr("Mean of %1, from the least to the largest").arg(runs);
}

QVariant RunRows::groupData(const Top& top, int column, int role) const {
  const bool shown = shownOf(top) != Qt::Unchecked;
  switch (role) {
    case groupRole:
      return top.id;
    case Qt::DisplayRole:
      return groupText(top, column);
    case Qt::AccessibleTextRole:
      return QString(groupText(top, column) + ' ' + groupData(top, column, kRemarkRole).toString()).trimmed();
    case Qt::CheckStateRole:
      return column == RunsModel::shown ? QVariant(shownOf(top)) : QVariant();
    case Qt::ToolTipRole:
      return column == RunsModel::best || column == RunsModel::seeds ? QVariant(meaningOfSpread(top)) : QVariant();
    case kSwatchRole:
      return (column == RunsModel::colour || column == RunsModel::seeds) && shown ? groupColour(top) : QVariant();
    case kStatusRole:
      return column == RunsModel::state ? groupState(top, false) : QVariant();
    case kStrongRole:
      return column == RunsModel::best || (column == RunsModel::name && shown);
    case kSortRole:
      return sortKeyOf(top, column);
    case kRemarkRole:
      return column == RunsModel::best || column == RunsModel::last ? QVariant(remarkOf(top, column)) : QVariant();
    case kLevelRole:
      return column == RunsModel::name
                 ? QVariant(static_cast<int>(m_open.contains(top.id) ? Level::open : Level::closed))
                 : QVariant();
    case kDotsRole:
      return column == RunsModel::seeds && !top.averaged.empty() ? dots(top.averaged) : QVariant();
    case kToneRole:
      return groupText(top, column) == kNone ? QVariant(static_cast<int>(Tone::quiet)) : QVariant();
    default:
      return {};
  }
}

}  // namespace loom
