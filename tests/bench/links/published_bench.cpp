// How published runs scale, predicted from one of them: published_bench [resnet_50.loom] prints a table, with --csv
// lines for results/published.csv. What a step computes is fitted to the first run of a series, with everything in
// proportion to the samples of a GPU; the links are assumed, and said. Whatever a run takes beside its steps
// (validation, start) is in what was published and not in the prediction.
#include <fmt/format.h>

#include <cstring>

#include "engine/base/error.h"
#include "engine/planner/scaling.h"

namespace loom {
namespace {

struct Run {
  int ranks;
  std::int64_t batch;
  double published;  // seconds
};

struct Series {
  const char* name;
  const char* links;  // in words
  int perHost;
  Links assumed;
  std::vector<Run> runs;  // the first is fitted
};

// 16-bit gradients in both, summed in the way that is cheapest. A GPU has its part of its host's network.
const Series kSeries[] = {{"Jizhi (P40)",
                           "8 GPUs a host on PCI Express at 10 GB/s, 100 Gbit/s Ethernet a host; 5 and 10 us",
                           8,
                           {.within = {5e-6, 10e9}, .between = {10e-6, 12.5e9 / 8}},
                           {{1024, 65536, 8.7 * 60}, {2048, 65536, 6.6 * 60}}},
                          {"STiLL (V100)",
                           "4 GPUs a host on NVLink at 40 GB/s, 2 x 100 Gbit/s InfiniBand a host; 3 and 5 us",
                           4,
                           {.within = {3e-6, 40e9}, .between = {5e-6, 25e9 / 4}},
                           {{2048, 65536, 97}, {2560, 81920, 79.7}, {3072, 98304, 67.65}}}};

ScalingPoint predicted(const Project& project, const std::vector<std::size_t>& halves, const Series& series,
                       const Run& run, double secondsPerSample) {
  const ScalingQuestion question{.secondsPerSample = secondsPerSample,
                                 .batch = run.batch,
                                 .perHost = series.perHost,
                                 .links = series.assumed,
                                 .samples = 1281167,
                                 .epochs = 90,
                                 .wires = {Wire::f32}};
  return scalingPoint(project, question, halves, run.ranks);
}

// Seconds a sample with which the first run takes as long as was published.
double fitted(const Project& project, const std::vector<std::size_t>& halves, const Series& series) {
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (predicted(project, halves, series, series.runs[0], middle).run > series.runs[0].published ? high : low) = middle;
  }
  return (low + high) / 2;
}

void print(const Project& project, bool csv) {
  // Bytes of 16-bit gradients: half as many numbers of 32.
  std::vector<std::size_t> halves = exchangedBuckets(project);
  for (std::size_t& floats : halves) floats = (floats + 1) / 2;
  if (csv)
    fmt::print(
        "series,links_assumed,gpus,batch,published_s,predicted_s,predicted_to_published,perfect_s,step_ms,exchange_ms,"
        "summed_by,efficiency\n");
  for (const Series& series : kSeries) {
    if (!csv)
      fmt::print("{}: {}\n  {:>6}{:>9}{:>12}{:>12}{:>8}{:>10}\n", series.name, series.links, "GPUs", "batch",
                 "published", "predicted", "ratio", "perfect");
    const double perSample = fitted(project, halves, series);
    for (const Run& run : series.runs) {
      const ScalingPoint point = predicted(project, halves, series, run, perSample);
      const double perfect = series.runs[0].published * series.runs[0].ranks / run.ranks;
      if (csv)
        fmt::print("{},{},{},{},{:.1f},{:.1f},{:.3f},{:.1f},{:.2f},{:.2f},{},{:.3f}\n", series.name,
                   "\"" + std::string(series.links) + "\"", run.ranks, run.batch, run.published, point.run,
                   point.run / run.published, perfect, point.step * 1e3, point.exchange * 1e3, point.reduction,
                   point.efficiency);
      else
        fmt::print("  {:>6}{:>9}{:>10.1f} s{:>10.1f} s{:>8.2f}{:>8.1f} s{}\n", run.ranks, run.batch, run.published,
                   point.run, point.run / run.published, perfect, &run == &series.runs[0] ? "  fitted" : "");
    }
  }
}

}  // namespace
}  // namespace loom

int main(int count, char** arguments) {
  bool csv = false;
  std::string project = GRADLOOM_SOURCE_DIR "/samples/resnet_50/resnet_50.loom";
  for (int i = 1; i < count; ++i)
    std::strcmp(arguments[i], "--csv") == 0 ? void(csv = true) : void(project = arguments[i]);
  try {
    loom::print(loom::loadProject(project), csv);
  } catch (const loom::Error& error) {
    fmt::print(stderr, "published_bench: {}\n", error.what());
    return 1;
  }
}
