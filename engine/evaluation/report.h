#pragma once
// An evaluation as files that others read: report.json, and tables as CSV.
//
// report.json: {"version": 1, "run", "checkpoint", "step", "dataset", "csv", "content", "samples", "seconds",
// "outputs":
// [...]}; the figures of an output bear the names of EvaluatedOutput. Its samples stand column by column, worst first:
// {"sample": [...], "row": [...], "loss": [...], ...}. Numbers by numberToJson(); shares from 0 to 1.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/evaluation/mcnemar.h"
#include "engine/evaluation/output_evaluator.h"

namespace loom {

struct EvaluationReport {
  std::string run, checkpoint;  // folder, file
  std::int64_t step = 0;        // of the weights
  std::string dataset;          // of the project; empty where a file was named
  std::string csv, content;     // the file, and the hash of its samples (Dataset::contentHash()); the same data
  std::string picture;          // the variable that is the network's one input, if it is one
  std::vector<Json> prepare;    // by which the CSV was read
  std::int64_t samples = 0;
  double seconds = 0;  // that it took
  std::vector<EvaluatedOutput> outputs;
  struct Other {  // another run on the same samples, of the first output
    std::string run;
    double accuracy = 0;
    McNemar difference;
  };
  std::optional<Other> against;
};

Json toJson(const EvaluationReport& report);
std::string toText(const EvaluationReport& report);  // the same as report.json holds it
Json figuresJson(const EvaluationReport& report);    // the same without the samples, "worst"
// Throws Error(badData) for what toJson() does not write, newerVersion for one of a later version.
EvaluationReport evaluationReportFromJson(const Json& json);

// The tables of an output: each begins with its header. Rows are counted from 1, as a person counts them.
std::string confusionCsv(const EvaluatedOutput& output);  // rows true, columns predicted; of many classes a cell a line
std::string classesCsv(const EvaluatedOutput& output);    // of numbers a value a line
std::string samplesCsv(const EvaluatedOutput& output);    // worst first
std::string curvesCsv(const EvaluatedOutput& output);     // a point of a curve a line, and each curve by itself:
std::string rocCsv(const EvaluatedOutput& output);
std::string precisionRecallCsv(const EvaluatedOutput& output);
std::string reliabilityCsv(const EvaluatedOutput& output);  // a bin a line

// report.json and the CSV of each table: confusion.csv, classes.csv, samples.csv, curves.csv,
// reliability.csv; of a second output
// confusion-2.csv and so on. The folder is made; each file is whole or not there, report.json comes last. Answers the
// names of the files.
std::vector<std::string> writeReport(const std::filesystem::path& folder, const EvaluationReport& report);

}  // namespace loom
