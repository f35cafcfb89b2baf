#include "app/pages/network/network_strip.h"

#include <algorithm>
#include <cmath>
#include <exception>

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QTextDocument>

#include "app/pages/network/inspector_parts.h"
#include "engine/planner/plan.h"
#include "widgets/canvas/network_view.h"
#include "widgets/canvas/unit_view.h"
#include "widgets/chart/format.h"
#include "widgets/controls/button.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {
constexpr int kForecastMs = 200;  // after the last change

int threadsOf(const Project& project) {
  const Json& settings = project.training.settings;
  return settings.is_object() && settings.contains("threads") && settings["threads"].is_number_integer() ? settings["threads"].get<int>() : 0;
}
}

NetworkStrip::NetworkStrip(NetworkView& view, QWidget* parent) : QWidget(parent), m_view(view) {
  setFixedHeight(33);
  setAccessibleName(tr("Totals and zoom"));
  m_figures = new QLabel(this);
  m_figures->setTextFormat(Qt::RichText);
  auto* out = iconButton(QStringLiteral("minus"), tr("Zoom out"), this);
  auto* in = iconButton(QStringLiteral("plus"), tr("Zoom in"), this);
  auto* fit = iconButton(QStringLiteral("fit"), tr("Show all (Shift+1)"), this);
  m_zoom = new QLabel(this);
  m_zoom->setAlignment(Qt::AlignCenter);
  m_zoom->setFont(Theme::of(this).numberFont(FontRole::label));
  m_zoom->setFixedWidth(52);
  m_zoom->setAccessibleName(tr("Zoom"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(14, 1, 8, 0);
  row->setSpacing(2);
  row->addWidget(m_figures, 1);
  row->addWidget(out);
  row->addWidget(m_zoom);
  row->addWidget(in);
  row->addSpacing(6);
  row->addWidget(fit);
  connect(out, &Button::clicked, this, [this] { m_view.zoomBy(0.8); });
  connect(in, &Button::clicked, this, [this] { m_view.zoomBy(1.25); });
  connect(fit, &Button::clicked, this, [this] { m_view.fit(); });
  connect(&m_view, &NetworkView::zoomChanged, this, &NetworkStrip::refreshZoom);
  connect(&m_view.networkScene(), &NetworkScene::refreshed, this, &NetworkStrip::refresh);
  connect(&Theme::of(this), &Theme::changed, this, &NetworkStrip::refresh);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kForecastMs);
  connect(&m_soon, &QTimer::timeout, this, &NetworkStrip::forecast);
  connect(&m_view.networkScene().document(), &ProjectDocument::changed, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_view.networkScene().document(), &ProjectDocument::opened, &m_soon, qOverload<>(&QTimer::start));
  connect(&m_view.networkScene(), &NetworkScene::networkSwitched, this, [this] {
    m_view.networkScene().setCosts({});
    m_soon.start();
  });
  connect(&m_view, &NetworkView::inHandChanged, this, [this] {
    if (shown() != m_planned) m_soon.start();
  });
  m_soon.start();
  refresh();
}

std::vector<NetworkStrip::Shown> NetworkStrip::shown() const {
  std::vector<Shown> all{{&m_view.networkScene(), m_view.networkScene().networkName(), {}}};
  for (const UnitView* unit = m_view.unitView(); unit != nullptr && unit->isOpen(); unit = unit->view().unitView()) {
    std::vector<StepPlan::Use> through = all.back().through;
    through.push_back({all.back().drawing, unit->use()});
    all.push_back({&unit->scene(), unit->scene().networkName(), std::move(through)});
  }
  return all;
}

QString NetworkStrip::figures() const {
  QTextDocument text;
  text.setHtml(m_figures->text());
  return text.toPlainText();
}

void NetworkStrip::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  refresh();
  m_soon.start();
}

void NetworkStrip::forecast() {
  if (!isVisible()) return;
  const ProjectDocument& document = m_view.networkScene().document();
  const auto& problems = document.problems();
  if (std::any_of(problems.begin(), problems.end(), [](const Problem& each) { return each.severity == Severity::error; })) {
    m_forecast.forget();
    m_memory.clear();
    m_time.clear();
    for (const Shown& each : shown())
      if (each.scene->costs().batch != 0) each.scene->setCosts({});
    m_planned = shown();
    refresh();
    return;
  }
  m_planned = shown();
  m_forecast.ask([this, project = document.project(), asked = m_planned, measured = m_measured ? m_measured() : Measured()](const std::atomic<bool>&) -> NewestTask::Answer {
    QString memory, time, batch;
    std::vector<NetworkCosts> costs(asked.size());
    try {
      const ProjectPlan plan = planTraining(project);
      memory = formatBytes(static_cast<double>(plan.total.totalBytes()));
      if (!plan.updates.empty()) batch = tr("at batch %L1, predicted").arg(plan.updates.front().batch);
      if (const Network* outer = project.drawing(asked.front().drawing)) {
        const StepPlan step(project, *outer, thisProcessor(threadsOf(project)), measured);
        for (std::size_t i = 0; i < asked.size(); ++i)
          if (const Network* drawn = project.drawing(asked[i].drawing)) costs[i] = step.of(*drawn, asked[i].through);
      }
      time = formatDuration(costs.front().step.seconds);
    } catch (const std::exception&) {
      // What is wrong stands at its node and in the list of problems; a forecast ends no window.
    }
    return [this, memory, time, batch, costs, asked] {
      m_memory = memory;
      m_time = time;
      m_batch = batch;
      // What is looked at now: one that was closed or shows something else meanwhile has asked anew.
      for (const Shown& each : shown())
        if (const auto found = std::find(asked.begin(), asked.end(), each); found != asked.end())
          each.scene->setCosts(costs[static_cast<std::size_t>(found - asked.begin())]);
      refresh();
    };
  });
}

void NetworkStrip::refreshZoom() { m_zoom->setText(QStringLiteral("%1\u202F%").arg(std::lround(m_view.zoom() * 100))); }

void NetworkStrip::refresh() {
  if (!isVisible()) return;  // done when it is shown
  refreshZoom();
  const NetworkScene& scene = m_view.networkScene();
  const Network& network = scene.network();
  const Theme& theme = Theme::of(this);
  if (network.nodes.empty()) {
    m_figures->clear();
    return;
  }
  const Analysis& analysis = scene.document().analysis(scene.networkName());
  const bool known = costsKnown(network, analysis);
  const QString mono = theme.numberFont(FontRole::label).family();
  const auto figure = [&](const QString& value, const QString& unit, bool sure) {
    return QStringLiteral("<span style=\"font-family:'%1'; font-weight:600; color:%2\">%3</span> <span style=\"color:%4\">%5</span>")
        .arg(mono, theme.colour(sure ? Colour::text : Colour::error).name(), sure ? value : QStringLiteral("?"), theme.colour(Colour::text3).name(), unit);
  };
  m_figures->setText(figure(countText(static_cast<double>(analysis.parameters)), tr("parameters"), known) + QStringLiteral("&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;") +
                     figure(countText(analysis.multiplyAdds), tr("multiply-adds a sample"), known) +
                     (m_memory.isEmpty() ? QString() : QStringLiteral("&nbsp;&nbsp;&nbsp;&nbsp;&nbsp;") + figure(m_memory, m_time.isEmpty() ? m_batch : tr("and"), true)) +
                     (m_memory.isEmpty() || m_time.isEmpty() ? QString() : QStringLiteral("&nbsp;") + figure(m_time, m_batch, true)));
}

void NetworkStrip::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.fillRect(rect(), theme.colour(Colour::surface));
  painter.setPen(theme.hairline(Colour::line));
  painter.drawLine(QPointF(0, 0.5), QPointF(width(), 0.5));
}

}  // namespace loom
