#pragma once
// What a step will take and need, before it runs: asked of `loom plan`, which compiles it as this machine would run it,
// in a process of its own. Where that cannot be asked, from crude assumptions. Called beside the window's thread.
#include <QByteArray>
#include <QDate>
#include <QString>
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "app/pages/network/measured_layers.h"
#include "engine/base/json.h"
#include "engine/planner/node_costs.h"

namespace loom {

// A drawing that is in sight, opened in the nodes `through`, the outermost first.
struct AskedDrawing {
  std::string drawing;
  std::vector<StepPlan::Use> through;
  bool operator==(const AskedDrawing&) const = default;
};

struct StepForecast {
  double memory = 0;  // bytes; 0 = the project cannot be trained
  std::int64_t batch = 0;
  std::vector<NetworkCosts> costs;  // of each drawing that was asked about
  enum class Source {
    none,
    measured,  // on this machine, on `day`
    assumed,   // nothing was measured here for so many threads
    rough,     // nor could the plan be asked
  } source = Source::none;
  QDate day;
  QString from;  // "from 310 stages measured on 2026-11-23 by gradloom 0.1"
};

// The last answer of `loom plan`: a drawing that was only moved is not asked about again. One question uses it at a
// time.
struct PlanAnswer {
  QByteArray question;
  Json answer;
};

// `outdated`: nobody wants the answer any more. Throws nothing: what is wrong with the project stands at its nodes.
StepForecast forecastStep(const Project& project, const std::vector<AskedDrawing>& asked,
                          const MeasuredLayers& measured, PlanAnswer& last, const std::atomic<bool>& outdated);

// 0: all.
int threadsOf(const Project& project);

}  // namespace loom
