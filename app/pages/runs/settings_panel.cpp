#include "app/pages/runs/settings_panel.h"

#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QJsonObject>
#include <QStackedWidget>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/run_metrics.h"
#include "app/run_networks.h"
#include "app/run_settings.h"
#include "widgets/chart/scatter_plot.h"
#include "widgets/chart/weight_bars.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"

namespace loom {
namespace {

const QString kResult = QStringLiteral("best");         // the key of the last axis
const QString kOfNetwork = QStringLiteral("network:");  // before the name of an argument of a layer
constexpr std::size_t kOfRuns = 30;                     // lines up to which each has its run's colour by itself
constexpr int kAxisRoom = 72, kFewestAxes = 3, kMostAxes = 8;
constexpr int kApplyMs = 16, kWeighMs = 500, kApplyShare = 3;

}  // namespace

SettingsPanel::SettingsPanel(RunsModel& model, RunRows& rows, const RunMetrics& metrics, QWidget* parent)
    : QWidget(parent),
      m_model(model),
      m_rows(rows),
      m_metrics(metrics),
      m_look(new SegmentedControl({tr("Settings"), tr("Scatter"), tr("Importance")})),
      m_colourBy(new ChoiceField),
      m_x(new ChoiceField),
      m_stack(new QStackedWidget),
      m_parallel(new ParallelAxes),
      m_scatter(new ScatterPlot),
      m_weights(new WeightBars) {
  m_look->setObjectName("settings-look");
  m_look->setAccessibleName(tr("How settings and results are shown"));
  m_colourBy->setObjectName("settings-colour");
  m_colourBy->setAccessibleName(tr("What the colour says"));
  m_colourBy->setPrefix(tr("Colour"));
  m_x->setObjectName("scatter-x");
  m_x->setAccessibleName(tr("Setting on the x axis"));
  m_parallel->setObjectName("settings-that-differ");
  m_scatter->setObjectName("settings-scatter");
  m_weights->setObjectName("settings-weights");
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(m_look);
  row->addStretch();
  auto* choices = new QHBoxLayout;  // in the looks' row their words would be cut off
  choices->setContentsMargins(6, 0, 0, 0);
  choices->setSpacing(8);
  choices->addWidget(m_x, 1);
  choices->addWidget(m_colourBy, 1);
  for (QWidget* each : std::initializer_list<QWidget*>{m_parallel, m_scatter, m_weights}) m_stack->addWidget(each);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(6);
  column->addLayout(row);
  column->addLayout(choices);
  column->addWidget(m_stack, 1);
  for (QTimer* each : {&m_applySoon, &m_weighSoon}) each->setSingleShot(true);
  m_weighSoon.setInterval(kWeighMs);
  connect(&m_applySoon, &QTimer::timeout, this, &SettingsPanel::applyBrushes);
  connect(&m_weighSoon, &QTimer::timeout, this, &SettingsPanel::weigh);
  connect(m_look, &SegmentedControl::currentChanged, this, &SettingsPanel::showLook);
  connect(m_colourBy, &QComboBox::activated, this, [this] {
    shadeAnew();
    showLook();
  });
  connect(m_x, &QComboBox::activated, this, &SettingsPanel::showLook);
  connect(m_parallel, &ParallelAxes::brushed, this, &SettingsPanel::takeBrushes);
  connect(m_scatter, &ScatterPlot::brushed, this, &SettingsPanel::takeBrushes);
  connect(m_parallel, &ParallelAxes::lineHovered, this, &SettingsPanel::lineHovered);
  connect(m_scatter, &ScatterPlot::lineHovered, this, &SettingsPanel::lineHovered);
  connect(m_parallel, &ParallelAxes::lineClicked, this, &SettingsPanel::lineClicked);
  connect(m_scatter, &ScatterPlot::lineClicked, this, &SettingsPanel::lineClicked);
  connect(m_weights, &WeightBars::chosen, this, [this](const QString& key) {
    m_colourBy->setCurrentIndex(std::max(0, m_colourBy->findData(key)));
    shadeAnew();
    m_look->setCurrent(axes);
  });
  showLook();
}

int SettingsPanel::look() const {
  return m_look->current();
}

void SettingsPanel::setLook(int look) {
  m_look->setCurrent(look);
}

AxisValue SettingsPanel::resultOf(const RunRecord& run) const {
  if (run.bestStep < 0 || run.metric != m_model.metric())
    return {run.step > 0 && !std::isfinite(run.loss) ? tr("NaN") : QStringLiteral("–"), std::nullopt};
  QString& text = m_resultTexts[{m_metrics.kind(run), run.best}];
  if (text.isEmpty()) text = m_metrics.number(run, run.best);
  return {text, run.best};
}

std::uint32_t SettingsPanel::nameOf(const QString& key) const {
  return m_model.settingValues().nameOf(key.toStdString());
}

const AxisValue& SettingsPanel::valueOf(SettingId id) const {
  const SettingValues& values = m_model.settingValues();
  if (id >= m_values.size()) m_values.resize(values.size());
  std::optional<AxisValue>& known = m_values[id];
  if (!known) {
    const Json& value = values[id].value;
    known = AxisValue{textOfSetting(QString::fromStdString(values[id].words), value),
                      value.is_number() ? std::optional(value.get<double>()) : std::nullopt};
  }
  return *known;
}

AxisValue SettingsPanel::valueOf(int row, const QString& key, std::uint32_t name) const {
  if (key == kResult) return resultOf(m_model.run(row));
  if (key.startsWith(kOfNetwork)) return argumentOf(row, key.mid(kOfNetwork.size()).toStdString());
  const SettingId* const setting = m_model.settingValues().find(m_model.settingsOf(row), name);
  return setting ? valueOf(*setting) : AxisValue{QStringLiteral("–"), std::nullopt};
}

AxisValue SettingsPanel::argumentOf(int row, const std::string& name) const {
  const auto network = m_model.networkOf(m_model.run(row).id);
  const NamedValue* const value = network ? network->find(name) : nullptr;
  bool number = false;
  const double parsed = value && value->isNumber ? QString::fromStdString(value->text).toDouble(&number) : 0;
  return {textOfNetworkValue(value), number ? std::optional(parsed) : std::nullopt};
}

// Settings first: of many drawings that were changed by hand the settings are asked for.
std::vector<ParallelAxes::Axis> SettingsPanel::differing() const {
  std::vector<ParallelAxes::Axis> all;
  for (const QString& key : m_model.differing()) all.push_back({key, labelOfSetting(key)});
  for (const std::string& name : m_model.differingArguments())
    all.push_back({kOfNetwork + QString::fromStdString(name), labelOfNetworkValue(name)});
  return all;
}

bool SettingsPanel::differ(const std::vector<int>& rows, const QString& key) const {
  if (key.startsWith(kOfNetwork)) {
    const std::string name = key.mid(kOfNetwork.size()).toStdString();
    const std::string* first = nullptr;
    for (const int row : rows) {
      const auto network = m_model.networkOf(m_model.run(row).id);
      const NamedValue* const value = network ? network->find(name) : nullptr;
      if (value && first && value->text != *first) return true;
      if (value) first = &value->text;
    }
    return false;
  }
  const SettingValues& values = m_model.settingValues();
  const std::uint32_t name = nameOf(key);
  const auto of = [&](int row) { return values.find(m_model.settingsOf(row), name); };
  const auto isAs = [&](const SettingId* first, const SettingId* other) {
    if (!first || !other) return first == other;
    return *first == *other || values[*first].value == values[*other].value;  // 1 and 1.0
  };
  return !rows.empty() && std::any_of(rows.begin(), rows.end(),
                                      [&, first = of(rows.front())](int row) { return !isAs(first, of(row)); });
}

void SettingsPanel::refresh(const QHash<QString, int>& colours) {
  const int most = std::clamp(width() / kAxisRoom, kFewestAxes, kMostAxes);
  const Drawn now{m_rows.revision(), most,   m_rows.isGrouped(), m_model.differing(), m_model.differingArguments(),
                  m_model.metric(),  colours};
  if (now == m_drawn) return;  // sorted, or ticked: thousands of lines are not made anew for that
  m_drawn = now;
  std::vector<int> runs = m_rows.filtered();
  std::erase_if(runs, [this](int row) { return m_model.settingsOf(row).empty(); });
  m_axes.clear();
  std::vector<ParallelLine> lines;
  if (runs.size() > 1)
    for (ParallelAxes::Axis& axis : differing())
      if (static_cast<int>(m_axes.size()) < most && !(m_rows.isGrouped() && isSeedSetting(axis.key)) &&
          differ(runs, axis.key))
        m_axes.push_back(std::move(axis));
  if (!m_axes.empty()) {
    m_axes.push_back({kResult, m_model.metricKind() == ValueKind::accuracy ? tr("Best %") : tr("Best")});
    lines.reserve(runs.size());
    std::vector<std::uint32_t> names;
    for (const ParallelAxes::Axis& axis : m_axes) names.push_back(nameOf(axis.key));
    for (const int row : runs) {
      const QString& id = m_model.run(row).id;
      ParallelLine line{.id = id, .colour = colours.value(id, -1), .shade = {}, .values = {}};
      line.values.reserve(m_axes.size());
      for (std::size_t axis = 0; axis < m_axes.size(); ++axis)
        line.values.push_back(valueOf(row, m_axes[axis].key, names[axis]));
      lines.push_back(std::move(line));
    }
  }
  fillChoices();
  setShades(lines);
  m_lines = std::make_shared<const std::vector<ParallelLine>>(std::move(lines));
  showLook();
}

// What can be chosen stays chosen while it is there.
void SettingsPanel::fillChoices() {
  const auto fill = [](ChoiceField& field, const std::vector<std::pair<QString, QString>>& items) {
    bool same = static_cast<std::size_t>(field.count()) == items.size();
    for (std::size_t i = 0; same && i < items.size(); ++i)
      same = field.itemData(static_cast<int>(i)).toString() == items[i].first;
    if (same) return;
    const QString chosen = field.currentData().toString();
    field.clear();
    for (const auto& [key, title] : items) field.addItem(title, key);
    field.setCurrentIndex(std::max(0, field.findData(chosen)));
  };
  std::vector<std::pair<QString, QString>> colours{{"", tr("as it fits")}, {"run", tr("run")}, {kResult, tr("result")}},
      settings;
  for (std::size_t i = 0; i + 1 < m_axes.size(); ++i) {
    colours.emplace_back(m_axes[i].key, m_axes[i].title);
    settings.emplace_back(m_axes[i].key, m_axes[i].title);
  }
  fill(*m_colourBy, colours);
  fill(*m_x, settings);
}

// By rank, so that a few that diverged do not make all others one colour.
void SettingsPanel::setShades(std::vector<ParallelLine>& lines) const {
  QString by = m_colourBy->currentData().toString();
  if (by.isEmpty()) by = lines.size() > kOfRuns ? kResult : QStringLiteral("run");
  const auto axis = std::find_if(m_axes.begin(), m_axes.end(), [&](const auto& each) { return each.key == by; });
  for (ParallelLine& line : lines) line.shade.reset();
  if (axis == m_axes.end()) return;
  const auto place = static_cast<std::size_t>(axis - m_axes.begin());
  std::vector<const AxisValue*> values;
  for (const ParallelLine& line : lines) values.push_back(&line.values[place]);
  const ValueAxis scale(by, {}, values);
  const bool lower = by == kResult && m_model.metricBetter() == Better::lower;
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool none = scale.isOfNumbers() && !(values[i]->number && std::isfinite(*values[i]->number));
    const double height = scale.height(*values[i]);
    order.emplace_back(none ? -1 : lower ? 1 - height : height, i);
  }
  std::sort(order.begin(), order.end());
  // Of those that are alike all have one shade.
  double shade = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || order[i].first != order[i - 1].first)
      shade = static_cast<double>(i) / std::max(1.0, static_cast<double>(order.size() - 1));
    lines[order[i].second].shade = shade;
  }
}

void SettingsPanel::shadeAnew() {
  std::vector<ParallelLine> lines = *m_lines;
  setShades(lines);
  m_lines = std::make_shared<const std::vector<ParallelLine>>(std::move(lines));
}

void SettingsPanel::showLook() {
  m_stack->setCurrentIndex(look());
  m_x->setVisible(look() == scatter);
  m_colourBy->setVisible(look() != importance);
  if (look() == axes) {
    m_parallel->setContent(m_axes, m_lines);
    m_parallel->setBrushes(m_brushes);
    m_parallel->setHighlighted(m_highlighted);
    m_parallel->setTitle(tr("Settings that differ"),
                         m_brushes.empty()
                             ? tr("and what came of them")
                             : tr("%1 of %2 in the brush").arg(m_parallel->accepted()).arg(m_lines->size()));
  } else if (look() == scatter && !m_axes.empty()) {
    const auto x =
        static_cast<std::size_t>(std::clamp<int>(m_x->currentIndex(), 0, static_cast<int>(m_axes.size()) - 2));
    m_scatter->setContent(m_axes, m_lines, x, m_axes.size() - 1);
    m_scatter->setBrushes(m_brushes);
    m_scatter->setHighlighted(m_highlighted);
  } else if (look() == importance) {
    weighSoon();
  }
}

void SettingsPanel::setHighlighted(const QString& run) {
  m_highlighted = run;
  m_parallel->setHighlighted(run);
  m_scatter->setHighlighted(run);
}

void SettingsPanel::takeBrushes(const std::vector<AxisBrush>& brushes) {
  m_brushes = brushes;
  m_parallel->setTitle(tr("Settings that differ"),
                       m_brushes.empty()
                           ? tr("and what came of them")
                           : tr("%1 of %2 in the brush").arg(m_parallel->accepted()).arg(m_lines->size()));
  if (!m_applySoon.isActive()) m_applySoon.start(kApplyMs);
}

// The lines follow each move of the mouse, the table as often as it can.
void SettingsPanel::applyBrushes() {
  QElapsedTimer clock;
  clock.start();
  if (m_brushes.empty())
    m_rows.setBrush({});
  else
    m_rows.setBrush([this](int row) {
      return std::all_of(m_brushes.begin(), m_brushes.end(),
                         [&](const AxisBrush& each) { return each.accepts(valueOf(row, each.axis)); });
    });
  Q_EMIT brushesChanged();
  m_applySoon.setInterval(std::max<int>(kApplyMs, static_cast<int>(clock.elapsed()) * kApplyShare));
}

QJsonArray SettingsPanel::saveBrushes() const {
  QJsonArray all;
  for (const AxisBrush& each : m_brushes)
    all << QJsonObject{{"axis", each.axis},     {"low", each.low},
                       {"high", each.high},     {"numbers", each.numbers},
                       {"others", each.others}, {"words", QJsonArray::fromStringList(each.words)}};
  return all;
}

void SettingsPanel::restoreBrushes(const QJsonArray& brushes) {
  std::vector<AxisBrush> all;
  for (const auto& value : brushes) {
    const QJsonObject each = value.toObject();
    AxisBrush brush{.axis = each["axis"].toString(),
                    .low = each["low"].toDouble(),
                    .high = each["high"].toDouble(),
                    .numbers = each["numbers"].toBool(),
                    .others = each["others"].toBool(),
                    .words = {}};
    for (const auto& word : each["words"].toArray()) brush.words << word.toString();
    all.push_back(brush);
  }
  if (all == m_brushes) return;
  m_brushes = all;
  showLook();
  applyBrushes();
}

}  // namespace loom
