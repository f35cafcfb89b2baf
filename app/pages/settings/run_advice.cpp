#include "app/pages/settings/run_advice.h"

#include <QLocale>

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/network/network.h"
#include "engine/network/project.h"
#include "widgets/document/project_document.h"

namespace loom {
namespace {

using Kind = Advice::Kind;

// Rules with a step of their own length in each tensor: their rates do not follow the batch as others do.
const std::set<std::string> kByLayer{"LARS", "LAMB"};
const std::set<std::string> kBySquareRoot{"Adam", "AdamW", "RMSprop", "Adagrad", "LAMB"};

QString counted(std::int64_t value) { return QLocale(QLocale::English).toString(static_cast<qlonglong>(value)); }

class Adviser {
 public:
  Adviser(ProjectDocument& document, std::size_t index, const RunOutlook& outlook)
      : m_document(document),
        m_update(document.project().training.updates[index]),
        m_index(index),
        m_outlook(outlook),
        m_settings(settingsEntry(), document.project().training.settings),
        m_batch(std::max<std::int64_t>(1, m_settings.integer("batch"))) {}

  std::vector<Advice> run() {
    ranks();
    samples();
    rate();
    warmup();
    statistics();
    return std::move(m_advice);
  }

 private:
  void say(Kind kind, QString text, QString action = {}, std::function<void()> act = {}) {
    m_advice.push_back({kind, std::move(text), std::move(action), std::move(act)});
  }
  std::function<void()> set(const char* key, Json value) {
    return [&document = m_document, key, value] { document.setSetting(key, value); };
  }
  std::function<void()> warmUpFor(double epochs) {
    return [&document = m_document, index = m_index, epochs] {
      document.edit(QStringLiteral("warm up"), [index, epochs](Project& project) {
        if (index < project.training.updates.size()) project.training.updates[index].warmup = {{"epochs", epochs}};
      });
    };
  }
  std::string rule() const {
    const Json& optimizer = m_update.optimizer;
    return optimizer.is_object() ? optimizer.value("name", std::string("Momentum")) : std::string("Momentum");
  }
  double growth() const { return static_cast<double>(m_batch) / static_cast<double>(std::max<std::int64_t>(1, m_settings.integer("base_batch"))); }

  void ranks() {
    const std::int64_t passes = m_settings.integer("accumulate"), ranks = m_outlook.ranks;
    if (m_batch < ranks)
      say(Kind::error, QStringLiteral("A batch of %1 leaves some of the %2 ranks without a sample in every step.").arg(counted(m_batch), counted(ranks)),
          QStringLiteral("Set batch to %1").arg(ranks), set("batch", ranks));
    const bool synchronised = m_settings.text("batch_statistics") == "synchronised";
    if (synchronised && (passes > 1 || m_outlook.virtualRanks))
      say(Kind::error, QStringLiteral("Batch statistics over all ranks need all samples of a step at once, but %1 compute one after another.")
                           .arg(passes > 1 ? QStringLiteral("%1 passes").arg(passes) : QStringLiteral("%1 virtual ranks").arg(ranks)),
          QStringLiteral("Take them per shard"), set("batch_statistics", "per_shard"));
    if (m_settings.boolean("deterministic") && m_settings.text("wire") != "f32")
      say(Kind::error, QStringLiteral("A deterministic run has the same bits on any number of ranks, which a 16-bit wire cannot carry."),
          QStringLiteral("Use 32 bits"), set("wire", "f32"));
  }

  void samples() {
    const std::int64_t samples = m_outlook.samples;
    if (samples <= 0) return;
    if (m_batch > samples)
      say(Kind::warning, QStringLiteral("The batch is %1, but there are only %2 samples: every epoch is one step.").arg(counted(m_batch), counted(samples)),
          QStringLiteral("Set batch to %1").arg(std::max<std::int64_t>(1, samples / 10)), set("batch", std::max<std::int64_t>(1, samples / 10)));
    else if (samples % m_batch != 0)
      say(Kind::fine, QStringLiteral("%1 = %2 × %3 + %4: %5").arg(counted(samples), counted(samples / m_batch), counted(m_batch), counted(samples % m_batch),
                                                               m_settings.boolean("drop_last") ? QStringLiteral("the rest is left out of each epoch.")
                                                                                               : QStringLiteral("the last step is weighted by its samples.")));
    if (m_outlook.steps > 0 && m_outlook.steps < 50)
      say(Kind::warning, QStringLiteral("The whole run has %1 steps. More epochs or a smaller batch give the weights more of them.").arg(m_outlook.steps));
  }

  // Goyal et al. 2017, section 2.1: in proportion for SGD; by the square root for rules that divide by the gradient's size.
  void rate() {
    const double times = growth();
    const bool scaled = m_settings.text("rate_scaling") != "none";
    const std::string name = rule();
    if (scaled) {
      say(Kind::fine, QStringLiteral("The learning rate is multiplied by %1: the batch is %2 × the base batch.")
                          .arg(m_settings.text("rate_scaling") == "linear" ? times : std::sqrt(times), 0, 'g', 4)
                          .arg(times, 0, 'g', 4));
      return;
    }
    if (times < 4 || kByLayer.count(name)) return;
    const bool root = kBySquareRoot.count(name) > 0;
    say(Kind::warning, QStringLiteral("The batch is %1 × the base batch of %2, and the learning rate is used as typed.")
                           .arg(times, 0, 'g', 4).arg(counted(m_settings.integer("base_batch"))),
        root ? QStringLiteral("Scale by the square root") : QStringLiteral("Scale in proportion"), set("rate_scaling", root ? "square_root" : "linear"));
  }

  void warmup() {
    if (m_outlook.steps <= 0) return;
    const std::int64_t steps = m_outlook.warmupSteps;
    const double epochs = m_settings.real("epochs"), wanted = std::clamp(std::round(epochs / 12), 1.0, 5.0);  // Goyal et al.: 5 of 90 epochs
    const QString remedy = QStringLiteral("Warm up for %1 epoch%2").arg(wanted).arg(wanted == 1 ? "" : "s");
    if (steps == 0) {
      if (growth() < 4) return;
      say(Kind::warning, QStringLiteral("No warm-up: the first steps of a large batch, at the full rate, may diverge."), remedy, warmUpFor(wanted));
      return;
    }
    const int share = static_cast<int>(std::lround(100.0 * static_cast<double>(steps) / static_cast<double>(m_outlook.steps)));
    if (steps < 5)
      say(Kind::warning, QStringLiteral("%1 step%2 of warm-up: the rate jumps rather than grows.").arg(steps).arg(steps == 1 ? "" : "s"));
    else if (share > 50)
      say(Kind::warning, QStringLiteral("%1 steps of warm-up are %2 % of the run: little is left at the full rate.").arg(counted(steps)).arg(share));
    else
      say(Kind::fine, QStringLiteral("%1 steps of warm-up, %2 % of the run.").arg(counted(steps)).arg(share));
  }

  void statistics() {
    const Network* network = m_document.project().network(m_update.network);
    if (!network || m_settings.text("batch_statistics") == "synchronised") return;
    const bool normalises = std::any_of(network->nodes.begin(), network->nodes.end(), [](const Node& node) { return node.layer == "BatchNormalization"; });
    const std::int64_t shard = m_batch / std::max<std::int64_t>(1, m_outlook.ranks * m_settings.integer("accumulate"));
    if (!normalises || shard >= 16 || m_batch < 32) return;
    const bool can = m_settings.integer("accumulate") == 1 && !m_outlook.virtualRanks && m_outlook.ranks > 1;
    say(Kind::warning, QStringLiteral("Batch normalisation takes its statistics of %1 samples at a time, and is noisy below 16.").arg(shard),
        can ? QStringLiteral("Take them over all ranks") : QString(), can ? set("batch_statistics", "synchronised") : std::function<void()>());
  }

  ProjectDocument& m_document;
  const UpdateSpec& m_update;
  std::size_t m_index;
  const RunOutlook& m_outlook;
  Values m_settings;
  std::int64_t m_batch;
  std::vector<Advice> m_advice;
};

}  // namespace

std::vector<Advice> adviseOnRun(ProjectDocument& document, std::size_t index, const RunOutlook& outlook) {
  return Adviser(document, index, outlook).run();
}

}  // namespace loom
