#include "app/pages/network/network_strip.h"

#include <QDate>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QPainter>
#include <QTextDocument>
#include <algorithm>
#include <cmath>

#include "app/pages/network/inspector_parts.h"
#include "app/pages/network/processor_measurement.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/controls/focus_keeper.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kForecastMs = 200;  // after the last change

// "23 Nov", and the year where it is another.
QString dayText(QDate day) {
  return QLocale(QLocale::English)
      .toString(day,
                day.year() == QDate::currentDate().year() ? QStringLiteral("d MMM") : QStringLiteral("d MMM yyyy"));
}

}  // namespace

NetworkStrip::NetworkStrip(NetworkView& view, QWidget* parent)
    : QWidget(parent), m_view(view), m_measurement(new ProcessorMeasurement(this)) {
  keepHeight(this, 33);
  setAccessibleName(tr("Totals and zoom"));
  m_figures = new QLabel(this);
  m_figures->setTextFormat(Qt::RichText);
  m_figures->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  m_source = new Button(QString(), ButtonKind::link, this);
  m_source->setObjectName("strip-source");
  m_cancel = new Button(tr("Cancel"), ButtonKind::link, this);
  m_cancel->setObjectName("strip-cancel");
  m_cancel->setAccessibleName(tr("Cancel measuring this processor"));
  m_cancel->hide();
  auto* out = iconButton(QStringLiteral("minus"), tr("Zoom out"), this);
  auto* in = iconButton(QStringLiteral("plus"), tr("Zoom in"), this);
  auto* fit = iconButton(QStringLiteral("fit"), tr("Show all (Shift+1)"), this);
  m_zoom = new QLabel(this);
  m_zoom->setAlignment(Qt::AlignCenter);
  keepFont(m_zoom, FontRole::label, Face::numbers);
  keepWidth(m_zoom, 52);
  m_zoom->setAccessibleName(tr("Zoom"));
  m_right = new QWidget(this);
  auto* right = new QHBoxLayout(m_right);
  right->setContentsMargins(0, 0, 0, 0);
  right->setSpacing(2);
  right->addWidget(m_source);
  right->addSpacing(6);
  right->addWidget(m_cancel);
  right->addSpacing(6);
  for (QWidget* each : std::initializer_list<QWidget*>{out, m_zoom, in, fit}) right->addWidget(each);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(14, 1, 8, 0);
  row->setSpacing(6);
  row->addWidget(m_figures, 1);
  row->addWidget(m_right);
  connect(out, &Button::clicked, this, [this] { m_view.zoomBy(0.8); });
  connect(in, &Button::clicked, this, [this] { m_view.zoomBy(1.25); });
  connect(fit, &Button::clicked, this, [this] { m_view.fit(); });
  connect(m_source, &Button::clicked, this, &NetworkStrip::measureProcessor);
  connect(m_cancel, &Button::clicked, this, &NetworkStrip::cancelMeasuring);
  connect(m_measurement, &ProcessorMeasurement::progressed, this, &NetworkStrip::refresh);
  connect(m_measurement, &ProcessorMeasurement::ended, this, [this](bool kept, const QString& why) {
    m_notMeasured = kept ? QString() : why;
    if (kept) {
      m_last = std::make_shared<PlanAnswer>();
      forecastSoon();
    }
    refresh();
  });
  connect(&m_view, &NetworkView::zoomChanged, this, &NetworkStrip::refreshZoom);
  connect(&m_view.networkScene(), &NetworkScene::refreshed, this, &NetworkStrip::refresh);
  connect(&Theme::of(this), &Theme::changed, this, &NetworkStrip::refresh);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kForecastMs);
  connect(&m_soon, &QTimer::timeout, this, &NetworkStrip::forecast);
  connect(&m_view.networkScene().document(), &ProjectDocument::changed, this, &NetworkStrip::forecastSoon);
  connect(&m_view.networkScene().document(), &ProjectDocument::opened, this, &NetworkStrip::forecastSoon);
  connect(&m_view.networkScene(), &NetworkScene::networkSwitched, this, [this] {
    m_view.networkScene().setCosts({});
    forecastSoon();
  });
  connect(&m_view, &NetworkView::inHandChanged, this, [this] {
    if (asked() != m_planned) forecastSoon();
  });
  m_soon.start();
  refresh();
}

std::vector<NetworkStrip::Shown> NetworkStrip::shown() const {
  std::vector<Shown> all{{{m_view.networkScene().networkName(), {}}, &m_view.networkScene()}};
  for (const UnitView* unit = m_view.unitView(); unit != nullptr && unit->isOpen(); unit = unit->view().unitView()) {
    std::vector<StepPlan::Use> through = all.back().through;
    through.push_back({all.back().drawing, unit->use()});
    all.push_back({{unit->scene().networkName(), std::move(through)}, &unit->scene()});
  }
  return all;
}

std::vector<AskedDrawing> NetworkStrip::asked() const {
  const std::vector<Shown> all = shown();
  return {all.begin(), all.end()};
}

QString NetworkStrip::figures() const {
  QTextDocument text;
  text.setHtml(sentence(Words::whole));
  return text.toPlainText() + QStringLiteral("; ") + m_source->text();
}

void NetworkStrip::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  m_last = std::make_shared<PlanAnswer>();  // the processor may have been measured elsewhere meanwhile
  refresh();
  forecastSoon();
}

void NetworkStrip::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  refresh();
}

void NetworkStrip::measureProcessor() {
  const FocusKeeper keeper(*m_right, m_cancel);
  m_notMeasured.clear();
  m_measurement->start(threadsOf(m_view.networkScene().document().project()));
  refresh();
}

void NetworkStrip::cancelMeasuring() {
  const FocusKeeper keeper(*m_right, m_source);
  m_measurement->cancel();
  refresh();
}

void NetworkStrip::forecastSoon() {
  if (m_forecast.source != StepForecast::Source::none) setStale(true);
  m_soon.start();
}

void NetworkStrip::setStale(bool stale) {
  if (stale == m_stale) return;
  m_stale = stale;
  for (const Shown& each : shown()) each.scene->setCostsFaint(stale);
  refresh();
}

void NetworkStrip::forecast() {
  if (!isVisible()) return;
  const ProjectDocument& document = m_view.networkScene().document();
  const auto& problems = document.problems();
  m_planned = asked();
  if (std::any_of(problems.begin(), problems.end(),
                  [](const Problem& each) { return each.severity == Severity::error; })) {
    m_task.forget();
    take({.costs = std::vector<NetworkCosts>(m_planned.size())}, m_planned);
    return;
  }
  m_task.ask([this, project = document.project(), asked = m_planned, last = m_last,
              measured = m_measured ? m_measured()
                                    : MeasuredLayers()](const std::atomic<bool>& outdated) -> NewestTask::Answer {
    StepForecast found = forecastStep(project, asked, measured, *last, outdated);
    return [this, found = std::move(found), asked] { take(found, asked); };
  });
}

void NetworkStrip::take(StepForecast found, const std::vector<AskedDrawing>& asked) {
  m_forecast = std::move(found);
  // What is looked at now: one that was closed or shows something else meanwhile has asked anew.
  for (const Shown& each : shown())
    if (const auto at = std::find(asked.begin(), asked.end(), static_cast<const AskedDrawing&>(each));
        at != asked.end()) {
      const NetworkCosts& costs = m_forecast.costs[static_cast<std::size_t>(at - asked.begin())];
      if (costs.batch != 0 || each.scene->costs().batch != 0) each.scene->setCosts(costs);
    }
  // A change that came meanwhile has started the clock again.
  if (!m_soon.isActive()) setStale(false);
  refresh();
}

void NetworkStrip::refreshZoom() {
  m_zoom->setText(QStringLiteral("%1\u202F%").arg(std::lround(m_view.zoom() * 100)));
}

// From what the time is predicted, as a button that measures.
void NetworkStrip::refreshSource() {
  using Source = StepForecast::Source;
  const bool runs = m_measurement->runs();
  m_cancel->setVisible(runs);
  m_source->setEnabled(!runs);
  const bool known =
      m_forecast.source != Source::none && m_forecast.memory > 0 && !m_view.networkScene().network().nodes.empty();
  m_source->setVisible(runs || !m_notMeasured.isEmpty() || known);
  QString words, told;
  if (runs) {
    words = m_measurement->total() > 0
                ? tr("Measuring, %1 of %2").arg(m_measurement->done()).arg(m_measurement->total())
                : tr("Measuring");
    told = tr("Small networks are trained for some seconds; what they take is kept for every later plan");
  } else if (!m_notMeasured.isEmpty()) {
    words = tr("Not measured: try again");
    told = m_notMeasured;
  } else if (m_forecast.source == Source::measured) {
    words = tr("measured %1").arg(dayText(m_forecast.day));
    told = tr("Times are predicted from this machine's measurement of %1: %2.\nA click measures this processor again")
               .arg(dayText(m_forecast.day), m_forecast.from);
  } else {
    words = tr("speeds assumed, measure");
    told = m_forecast.source == Source::rough
               ? tr("Times are rough guesses, as the plan could not be asked: %1.\nA click measures this processor")
                     .arg(m_forecast.from)
               : tr("Times are predicted from assumed speeds, as nothing was measured on this machine.\nA click "
                    "measures this processor, in some seconds");
  }
  m_source->setText(words);
  m_source->setToolTip(told);
  m_source->setAccessibleName(words);
  m_source->setAccessibleDescription(told);
}

QString NetworkStrip::sentence(Words words) const {
  const NetworkScene& scene = m_view.networkScene();
  if (scene.network().nodes.empty()) return {};
  const Theme& theme = Theme::of(this);
  const Analysis& analysis = scene.document().analysis(scene.networkName());
  const bool known = costsKnown(scene.network(), analysis), whole = words == Words::whole;
  const QString mono = theme.numberFont(FontRole::label).family(),
                space = QStringLiteral("&nbsp;").repeated(whole ? 5 : 3);
  const auto figure = [&](const QString& value, const QString& unit, Colour ink) {
    return QStringLiteral(
               "<span style=\"font-family:'%1'; font-weight:600; color:%2\">%3</span> <span "
               "style=\"color:%4\">%5</span>")
        .arg(mono, theme.colour(ink).name(), value, theme.colour(Colour::text3).name(), unit);
  };
  const auto counted = [&](double value, const QString& unit) {
    return figure(known ? countText(value) : QStringLiteral("?"), unit, known ? Colour::text : Colour::error);
  };
  QString text = counted(static_cast<double>(analysis.parameters), tr("parameters"));
  if (words != Words::least)
    text += space + counted(analysis.multiplyAdds, whole ? tr("multiply-adds a sample") : tr("multiply-adds"));
  if (m_forecast.memory <= 0) return text;
  const Colour ink = m_stale ? Colour::disabled : Colour::text;
  const double seconds = m_forecast.costs.empty() ? 0 : m_forecast.costs.front().step.seconds;
  const QString at =
      whole ? tr("at batch %L1, predicted").arg(m_forecast.batch) : tr("at %L1, predicted").arg(m_forecast.batch);
  text += space + figure(formatBytes(m_forecast.memory), seconds > 0 ? tr("and") : at, ink);
  if (seconds > 0) text += QStringLiteral("&nbsp;") + figure(formatDuration(seconds), at, ink);
  return text;
}

void NetworkStrip::refresh() {
  if (!isVisible()) return;  // done when it is shown
  refreshZoom();
  refreshSource();
  layout()->activate();
  for (const Words words : {Words::whole, Words::brief, Words::least}) {
    m_figures->setText(sentence(words));
    if (m_figures->sizeHint().width() <= m_figures->width()) break;
  }
  m_figures->setAccessibleName(figures());
  m_figures->setToolTip(
      m_forecast.memory <= 0
          ? QString()
          : tr("%1 is all that a training step at %L2 takes: weights, gradients, the optimizer's slots, activations, "
               "working space and data. Single layers and their shares stand in the inspector.")
                .arg(formatBytes(m_forecast.memory))
                .arg(m_forecast.batch));
}

void NetworkStrip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.fillRect(rect(), theme.colour(Colour::surface));
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(QPointF(0, 0.5), QPointF(width(), 0.5));
}

}  // namespace loom
