// Whom the tab Evaluation asks, in which words, and where the answers lie.
#include <QCryptographicHash>
#include <QDir>
#include <QFileInfo>
#include <QLabel>
#include <QTemporaryDir>

#include "app/pages/data/sample_picture.h"
#include "app/pages/training/evaluation_board.h"
#include "app/pages/training/evaluation_side.h"
#include "app/pages/training/run_evaluation.h"
#include "app/pages/training/sample_panel.h"
#include "app/run_hosts.h"
#include "app/trained_runs.h"
#include "engine/base/error.h"
#include "launcher/remote/host_lines.h"
#include "launcher/store/run_store.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/segmented_control.h"

namespace loom {

QString RunEvaluation::Wish::name() const {
  if (file.isEmpty()) return part + '-' + weights;
  const QByteArray hash = QCryptographicHash::hash(file.toUtf8(), QCryptographicHash::Sha1).toHex().left(12);
  return QStringLiteral("file-%1-%2").arg(QString::fromLatin1(hash), weights);
}

QString RunEvaluation::hostOf(const QString& run) const {
  const RunRecord* const record = m_context.store->find(run);
  if (!record || !m_context.hosts || !m_context.runHosts) return {};
  const QString host = m_context.runHosts->hostOf(*record);
  return m_context.hosts->store().find(host) ? host : QString();
}

// Where a person wants it; by itself where the weights are.
bool RunEvaluation::isThere() const {
  if (hostOf(m_run).isEmpty()) return false;
  const RunRecord* const run = m_context.store->find(m_run);
  return m_where->currentIndex() == 1 || !hasWeightsHere(*run);
}

RunEvaluation::Wish RunEvaluation::wish() const {
  const RunRecord* const run = m_context.store->find(m_run);
  const bool there = isThere();
  const bool best = run && (there || hasBest(*run)) && m_weights->current() == 0;
  return {.run = m_run,
          .part = m_part == Part::training ? QStringLiteral("training") : QStringLiteral("validation"),
          .weights = QString::fromLatin1(toKey(best ? RunWeights::best : RunWeights::last)),
          .file = m_part == Part::file ? m_file : QString(),
          .there = there};
}

RunEvaluation::Wish RunEvaluation::wishOf(const QString& other) const {
  Wish same = wish();
  same.run = other;
  const RunRecord* const run = m_context.store->find(other);
  same.there = run && !hasWeightsHere(*run) && !hostOf(other).isEmpty();
  if (run && !same.there && !hasBest(*run)) same.weights = QString::fromLatin1(toKey(RunWeights::last));
  return same;
}

RunAnswers& RunEvaluation::answersFor(const Wish& wish, std::unique_ptr<HostAnswers>& kept) {
  if (!wish.there) return m_engine;
  QString& whose = &kept == &m_there ? m_thereRun : m_otherThereRun;
  if (kept && whose == wish.run) return *kept;
  const QString host = hostOf(wish.run);
  whose = wish.run;
  kept =
      std::make_unique<HostAnswers>(*m_context.hosts->line(host), m_context.hosts->store().find(host)->name, wish.run);
  const bool own = &kept == &m_there;
  connect(kept.get(), &HostAnswers::brought, this, [this, own](int question) {
    if (question != (own ? m_bringing : m_bringingOther)) return;
    (own ? m_bringing : m_bringingOther) = 0;
    own ? load(m_folder, true) : loadOther(m_otherFolder, true);
  });
  connect(kept.get(), &HostAnswers::refused, this, [this, own](int question, const QString& sentence) {
    if (question != (own ? m_bringing : m_bringingOther)) return;
    (own ? m_bringing : m_bringingOther) = 0;
    own ? fail(sentence) : m_board->side().setDifference({}, sentence);
  });
  return *kept;
}

// The report alone: its tables are written from it where a person saves them.
void RunEvaluation::bring(const Wish& wish, const QString& folder, HostAnswers& from, int& question) {
  question = from.bring({{QStringLiteral("evaluations/%1/%2").arg(wish.name(), QStringLiteral("report.json")),
                          QDir(folder).filePath(QStringLiteral("report.json"))}});
  if (&question == &m_bringing) m_progressWords->setText(tr("Bringing the report here"));
  refresh();
}

// Beside the run's checkpoints; where that cannot be written, until the window is closed.
QString RunEvaluation::folderOf(const Wish& wish, bool make) {
  const RunRecord* const run = m_context.store->find(wish.run);
  if (!run) return {};
  const QString here = run->folder + QStringLiteral("/evaluations/") + wish.name();
  const QString apart = m_temporary ? m_temporary->filePath(wish.run + '/' + wish.name()) : QString();
  if (!make) return !apart.isEmpty() && QFileInfo::exists(apart) ? apart : here;
  if (QDir().mkpath(here) && QFileInfo(here).isWritable()) return here;
  if (!m_temporary) m_temporary = std::make_unique<QTemporaryDir>();
  return m_temporary->filePath(wish.run + '/' + wish.name());
}

QStringList RunEvaluation::samplesOf(const Wish& wish) const {
  if (!wish.file.isEmpty()) return {"--data", wish.file};
  return {"--part", wish.part};
}

QStringList RunEvaluation::argumentsFor(const Wish& wish, const QString& folder) const {
  const RunRecord* const run = m_context.store->find(wish.run);
  const QString where = wish.there ? QStringLiteral("<run>") : run->folder;
  const QString report = wish.there ? where + "/evaluations/" + wish.name() : folder;
  return QStringList{"evaluate", where, "--checkpoint", wish.weights, "--report", report, "--json", "--progress"} +
         samplesOf(wish);
}

// Samples that lie on a host are shown as it has them, one after the other.
// A class for each place is what the network says of a sample: it is asked sample by sample, here too.
void RunEvaluation::wantFaces(const QList<qint64>& samples) {
  const bool map = m_board->output() && m_board->output()->isMap();
  if (!wish().there) m_faces.ask(samples);
  if (!wish().there && !map) return;
  m_facesWanted += samples;
  if (!m_faceCall.runs()) nextFace();
}

void RunEvaluation::nextFace() {
  if (m_facesWanted.isEmpty()) return;
  const Wish of = wish();
  const QString sample = QString::number(m_facesWanted.takeLast() + 1);
  const RunRecord* const run = m_context.store->find(of.run);
  QStringList words{"look",         of.there || !run ? QStringLiteral("<run>") : run->folder,
                    "--checkpoint", of.weights,
                    "--json",       "--no-layer",
                    "--sample",     sample};
  if (m_report && m_report->outputs.size() > 1) words << "--output" << QString::fromStdString(m_board->output()->name);
  m_faceCall.start(answersFor(of, m_there), words + samplesOf(of));
}

void RunEvaluation::takeFace(const QByteArray& output) {
  try {
    const Json json = parseJson(output.toStdString(), "loom look");
    const SampleLook look = sampleLookFromJson(json.value("look", Json::object()));
    SampleFace face;
    if (!look.picture.empty()) face.picture = samplePicture(look.picture, look.pictureShape, DataType::u8);
    if (m_board->output() && m_board->output()->name == look.output.name) face.classes = look.classes;
    m_board->cards().setFace(look.sample, face);
    m_board->panel().setFace(look.sample, face);
  } catch (const std::exception&) {
    m_facesWanted.clear();  // as if they were not there
  }
  nextFace();
}

void RunEvaluation::askAboutSample() {
  const Wish of = wish();
  const RunRecord* const run = m_context.store->find(of.run);
  if (!run || !m_report) return;
  const LookWish want = m_board->panel().wish();
  QStringList words{"look",
                    of.there ? QStringLiteral("<run>") : run->folder,
                    "--checkpoint",
                    of.weights,
                    "--json",
                    "--sample",
                    QString::number(want.sample + 1)};
  words += samplesOf(of);
  if (!want.method.isEmpty()) words << "--saliency" << want.method;
  if (!want.of.isEmpty()) words << "--of" << want.of;
  if (!want.layer.isEmpty()) words << "--layer" << want.layer;
  if (m_report->outputs.size() > 1) words << "--output" << QString::fromStdString(m_board->output()->name);
  m_sampleCall.start(answersFor(of, m_there), words);
}

void RunEvaluation::takeSample(const QByteArray& output) {
  SamplePanel& panel = m_board->panel();
  try {
    const Json json = parseJson(output.toStdString(), "loom look");
    const SampleLook look = sampleLookFromJson(json.value("look", Json::object()));
    if (look.sample != panel.sample()) return;
    const std::string pixels = fromDigits(json.value("pixels", std::string()));
    panel.setLook(look, readTensorSummary(json.value("layer", Json::object()), pixels));
  } catch (const std::exception& error) {
    panel.setFault(QString::fromUtf8(error.what()));
  }
}

void RunEvaluation::openInData() {
  if (!m_report || !m_context.go) return;
  const int card = m_board->cards().current();
  const EvaluatedSample* const sample = m_board->cards().sample(card);
  if (sample)
    m_context.go({.page = "data", .dataset = QString::fromStdString(m_report->dataset), .sample = sample->row});
}

}  // namespace loom
