#include "app/pages/training/sample_faces.h"

#include <cstring>

#include "app/pages/data/sample_picture.h"
#include "app/planned_run.h"
#include "engine/base/error.h"
#include "engine/data/columns/raw_columns.h"
#include "engine/network/dataset_rows.h"
#include "engine/network/project.h"
#include "widgets/chart/format.h"

namespace loom {
namespace {

constexpr int kFaceLines = 4;

// As the evaluation opened it, so that its cache is found.
std::shared_ptr<const Dataset> openedAs(const EvaluationReport& report, const RunRecord& run) {
  if (report.dataset.empty()) return openDataset(report.csv, {.prepare = report.prepare, .everyRow = true});
  const ReadProject read = readProject(projectOf(plannedAs(run)).dump(), "the project");
  const DatasetSpec* const spec = read.project.dataset(report.dataset);
  if (!spec) throwError(ErrorCode::badProject, "the run has no dataset '{}'", report.dataset);
  return openRows(*spec, report.csv, report.prepare);
}

// Numbers of a sample as a float each; empty of pictures and the like.
std::vector<float> numbersOf(const Dataset& data, qint64 sample, std::size_t variable) {
  const Variable& of = data.schema().variables[variable];
  const auto bytes = data.read(sample, variable);
  if (of.type != DataType::f32 || bytes.size() != static_cast<std::size_t>(of.shape.elements()) * sizeof(float))
    return {};
  std::vector<float> numbers(bytes.size() / sizeof(float));
  std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return numbers;
}

// A number that was scaled and led back is the file's to six digits.
QString cellText(const RawCell& cell) {
  return QString::fromStdString(cell.name) + ' ' +
         (cell.number ? formatValue(ValueKind::plain, *cell.number) : QString::fromStdString(cell.word));
}

SampleFace faceOf(const Dataset& data, qint64 sample, const std::string& input, const std::string& target,
                  const std::vector<Json>& prepare) {
  SampleFace face;
  const auto& variables = data.schema().variables;
  const auto picture = [&](std::size_t of) {
    Shape shape;
    const auto bytes = data.read(sample, of, &shape);
    return samplePicture(bytes, shape, variables[of].type);
  };
  if (const int of = data.schema().indexOf(input); of >= 0) face.picture = picture(static_cast<std::size_t>(of));
  for (std::size_t i = 0; i < variables.size() && face.picture.isNull(); ++i)
    if (variables[i].kind == VariableKind::image) face.picture = picture(i);
  if (!face.picture.isNull()) return face;
  for (std::size_t i = 0; i < variables.size() && face.lines.size() < kFaceLines; ++i) {
    const Variable& variable = variables[i];
    if (variable.name == target) continue;
    const std::vector<RawCell> cells = rawCellsOf(prepare, variable.name, numbersOf(data, sample, i));
    for (const RawCell& cell : cells)
      if (face.lines.size() < kFaceLines) face.lines << cellText(cell);
    if (!cells.empty()) continue;
    const auto bytes = data.read(sample, i);
    const std::int64_t count = std::min<std::int64_t>(variable.shape.elements(), kFaceLines);
    const auto size = bytesOf(variable.type);
    for (std::int64_t k = 0; k < count && face.lines.size() < kFaceLines; ++k) {
      const auto place = static_cast<std::size_t>(k);
      QString name =
          QString::fromStdString(place < variable.elementLabels.size() && !variable.elementLabels[place].empty()
                                     ? variable.elementLabels[place]
                                     : variable.name);
      if (bytes.size() < (place + 1) * size) break;
      face.lines << name + ' ' + sampleText(bytes.subspan(place * size, size), {1}, variable.type);
    }
  }
  return face;
}

}  // namespace

void SampleFaces::close() {
  if (m_work) m_work->cancel();
  m_work.reset();
  m_data.reset();
  m_waiting.clear();
}

void SampleFaces::open(const EvaluationReport& report, const RunRecord& run) {
  close();
  m_input = report.picture;
  m_target = report.outputs.empty() ? std::string() : report.outputs.front().target;
  m_prepare = report.prepare;
  m_work.emplace(this);
  EvaluationReport place = report;
  place.outputs.clear();  // the samples are not needed
  m_work->start([place = std::move(place), run](const Background<SampleFaces>& here) {
    try {
      here.post([data = openedAs(place, run)](SampleFaces& faces) {
        faces.m_data = data;
        faces.read(std::exchange(faces.m_waiting, {}));
      });
    } catch (const std::exception&) {
      here.post([](SampleFaces& faces) { faces.m_waiting.clear(); });  // the cards say what was said and what is true
    }
  });
}

void SampleFaces::ask(const QList<qint64>& samples) {
  if (m_data)
    read(samples);
  else
    m_waiting += samples;
}

void SampleFaces::read(const QList<qint64>& samples) {
  if (!m_work || samples.isEmpty()) return;
  m_work->start([samples, data = m_data, input = m_input, target = m_target,
                 prepare = m_prepare](const Background<SampleFaces>& here) {
    for (const qint64 each : samples) {
      if (here.cancelled()) return;
      SampleFace face;
      try {
        if (each < data->size()) face = faceOf(*data, each, input, target, prepare);
      } catch (const std::exception&) {
        continue;  // the cell is gone: its card stays without
      }
      here.post([each, face](SampleFaces& faces) { Q_EMIT faces.known(each, face); });
    }
  });
}

}  // namespace loom
