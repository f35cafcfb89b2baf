#include <fmt/compile.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/evaluation/report.h"

namespace loom {
namespace {

// Quoted where it must be.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char each : text) quoted += each == '"' ? std::string("\"\"") : std::string(1, each);
  return quoted + "\"";
}

std::string wordOf(const EvaluatedOutput& output, std::int64_t index) {
  const auto place = static_cast<std::size_t>(index);
  return index >= 0 && place < output.words.size() ? cell(output.words[place]) : std::string();
}

// Long tables are written into one buffer, their words quoted once. Behind the words stands an empty one for none.
using Text = fmt::memory_buffer;
template <class Format, class... Values>
void write(Text& text, const Format& format, const Values&... values) {
  fmt::format_to(std::back_inserter(text), format, values...);
}
std::vector<std::string> cellsOf(const EvaluatedOutput& output) {
  std::vector<std::string> cells;
  for (const std::string& each : output.words) cells.push_back(cell(each));
  cells.emplace_back();
  return cells;
}
std::size_t wordPlace(const std::vector<std::string>& cells, std::int64_t index) {
  return index < 0 ? cells.size() - 1 : std::min(static_cast<std::size_t>(index), cells.size() - 1);
}

}  // namespace

std::string confusionCsv(const EvaluatedOutput& output) {
  constexpr std::size_t kSquare = 200;
  std::string text;
  if (output.words.size() > kSquare) {
    text = "true,predicted,count\n";
    for (const ConfusionMatrix::Cell& each : output.cells)
      text += fmt::format("{},{},{}\n", wordOf(output, each.truth), wordOf(output, each.predicted), each.count);
    return text;
  }
  text = "true \\ predicted";
  const auto classes = static_cast<std::int64_t>(output.words.size());
  for (std::int64_t each = 0; each < classes; ++each) text.append(",").append(wordOf(output, each));
  text += "\n";
  auto next = output.cells.begin();
  for (std::int64_t truth = 0; truth < classes; ++truth) {
    text += wordOf(output, truth);
    for (std::int64_t predicted = 0; predicted < classes; ++predicted) {
      const bool here = next != output.cells.end() && next->truth == truth && next->predicted == predicted;
      text += fmt::format(",{}", here ? (next++)->count : 0);
    }
    text += "\n";
  }
  return text;
}

std::string classesCsv(const EvaluatedOutput& output) {
  std::string text;
  if (output.kind == EvaluatedOutput::numbers) {
    text = "value,count,r2,mae,rmse,bias,least,most\n";
    const auto line = [](const std::string& name, const RegressionFigures& each) {
      return fmt::format("{},{},{},{},{},{},{},{}\n", name, each.count, each.r2, each.mae, each.rmse, each.bias,
                         each.least, each.most);
    };
    for (std::size_t i = 0; i < output.values.size(); ++i)
      text += line(wordOf(output, static_cast<std::int64_t>(i)), output.values[i]);
    return text + line("all", output.regression);
  }
  text = fmt::format("class,precision,recall,f1,support,predicted,right,auc,average_precision{}\n",
                     output.isMap() ? ",iou" : "");
  for (std::size_t i = 0; i < output.table.classes.size(); ++i) {
    const ClassFigures& each = output.table.classes[i];
    text += fmt::format("{},{},{},{},{},{},{}", wordOf(output, static_cast<std::int64_t>(i)), each.precision,
                        each.recall, each.f1, each.support, each.predicted, each.right);
    const auto curve = std::find_if(output.curves.begin(), output.curves.end(),
                                    [&](const auto& one) { return one.of == static_cast<std::int64_t>(i); });
    text += curve == output.curves.end() ? std::string(",,")
                                         : fmt::format(",{},{}", curve->curve.auc, curve->curve.averagePrecision);
    text += output.isMap() ? fmt::format(",{}\n", intersectionOverUnion(each)) : std::string("\n");
  }
  const auto mean = [&](const char* name, const ClassTable::Mean& each, const std::string& end) {
    text += fmt::format("{},{},{},{},{},,,,{}\n", name, each.precision, each.recall, each.f1, output.items, end);
  };
  const std::string none = output.isMap() ? "," : "";
  mean("macro mean", output.table.macro,
       output.isMap() ? fmt::format(",{}", meanIntersectionOverUnion(output.table)) : none);
  mean("weighted mean", output.table.weighted, none);
  mean("micro mean", output.table.micro, none);
  return text;
}

std::string samplesCsv(const EvaluatedOutput& output) {
  const bool classes = output.kind == EvaluatedOutput::classes, map = output.isMap();
  Text text;
  write(
      text, FMT_COMPILE("{}{}\n"),
      classes ? "row,true,predicted,loss,true share,predicted share,next,next share" : "row,value,true,predicted,loss",
      map ? ",iou,right share" : "");
  const std::vector<std::string> words = cellsOf(output);
  const auto wordOf = [&](std::int64_t index) -> const std::string& { return words[wordPlace(words, index)]; };
  for (const EvaluatedSample& each : output.worst) {
    write(text, FMT_COMPILE("{}"), each.row + 1);
    if (!each.finite)
      write(text, FMT_COMPILE("{}{}"), classes ? ",,,nan,,,," : ",,,,nan", map ? ",," : "");
    else if (classes)
      write(text, FMT_COMPILE(",{},{},{},{},{},{},{}"), wordOf(each.truth), wordOf(each.predicted), each.loss,
            each.truthShare, each.predictedShare, wordOf(each.next), each.nextShare);
    else
      write(text, FMT_COMPILE(",{},{},{},{}"), wordOf(each.value), each.trueValue, each.predictedValue, each.loss);
    if (map && each.finite) write(text, FMT_COMPILE(",{},{}"), each.iou, each.rightShare);
    text.push_back('\n');
  }
  return fmt::to_string(text);
}

std::string curvesCsv(const EvaluatedOutput& output) {
  Text text;
  write(text, FMT_COMPILE("class,threshold,false positive rate,true positive rate,precision\n"));
  for (const auto& [of, curve] : output.curves) {
    const std::string word = wordOf(output, of);
    for (const CurvePoint& point : curve.points)
      write(text, FMT_COMPILE("{},{},{},{},{}\n"), word, point.threshold, point.falsePositives, point.truePositives,
            point.precision);
  }
  return fmt::to_string(text);
}

std::string rocCsv(const EvaluatedOutput& output) {
  std::string text = "class,threshold,false positive rate,true positive rate\n";
  for (const auto& [of, curve] : output.curves)
    for (const CurvePoint& point : curve.points)
      text +=
          fmt::format("{},{},{},{}\n", wordOf(output, of), point.threshold, point.falsePositives, point.truePositives);
  return text;
}

std::string precisionRecallCsv(const EvaluatedOutput& output) {
  std::string text = "class,threshold,recall,precision\n";
  for (const auto& [of, curve] : output.curves)
    for (const CurvePoint& point : curve.points)
      text += fmt::format("{},{},{},{}\n", wordOf(output, of), point.threshold, point.truePositives, point.precision);
  return text;
}

std::string reliabilityCsv(const EvaluatedOutput& output) {
  std::string text = "from,to,count,confidence,right\n";
  for (const ReliabilityBin& bin : output.calibration.bins)
    text += fmt::format("{},{},{},{},{}\n", bin.low, bin.high, bin.count, bin.confidence, bin.right);
  return text;
}

std::vector<std::string> writeReport(const std::filesystem::path& folder, const EvaluationReport& report) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) throwError(ErrorCode::inputOutput, "the folder {} cannot be made: {}", folder.string(), fault.message());
  std::vector<std::string> files;
  const auto write = [&](const std::string& name, const std::string& text) {
    writeFileAtomically(folder / name, text);
    files.push_back(name);
  };
  for (std::size_t i = 0; i < report.outputs.size(); ++i) {
    const EvaluatedOutput& output = report.outputs[i];
    const std::string end = (i == 0 ? std::string() : fmt::format("-{}", i + 1)) + ".csv";
    if (output.kind == EvaluatedOutput::classes) write("confusion" + end, confusionCsv(output));
    write("classes" + end, classesCsv(output));
    write("samples" + end, samplesCsv(output));
    if (!output.curves.empty()) write("curves" + end, curvesCsv(output));
    if (output.kind != EvaluatedOutput::numbers) write("reliability" + end, reliabilityCsv(output));
  }
  write("report.json", toText(report));
  return files;
}

}  // namespace loom
