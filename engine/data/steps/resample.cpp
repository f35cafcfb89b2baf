#include "engine/base/error.h"
#include "engine/data/prepare_step.h"
#include "engine/data/sound_rate.h"

namespace loom {
namespace {

// Done where a file is decoded, which alone says its rate; what is stored has it.
void addResample(const Values&, PreparationPlan& plan) {
  if (plan.variable.kind != VariableKind::wave)
    throwError(ErrorCode::badProject, "it brings sounds to a rate, but {} is {}", plan.variable.name,
               plan.image ? std::string("a picture: Resize brings those to one size")
                          : fmt::format("a {}", toString(plan.variable.kind)));
  if (!plan.asStored)
    throwError(ErrorCode::badProject, "it takes sounds as their files hold them; move it before the other steps of {}",
               plan.variable.name);
}

}  // namespace

const PrepareStep& defineResampleStep() {
  static const PrepareStep step{
      .entry = {.id = "Resample",
                .label = "Resample",
                .category = "shape",
                .icon = "scale",
                .aliases = {"Sample rate", "SampleRate"},
                .summary = "Brings every sound to one rate",
                .help = "Sounds of another rate are computed anew from their file's samples: band-limited, by the "
                        "filter of scipy.signal.resample_poly. What lies above half the new rate is gone, so that it "
                        "does not come back as another pitch. A sound at the rate already stays as it is. It is done "
                        "once, before sounds are stored, and so stands before all other steps on them.",
                .fields = {{.key = "rate",
                            .label = "Rate",
                            .help = "Samples a second: 16000 for speech, 44100 or 48000 for music.",
                            .type = FieldType::integer,
                            .hard = Range{kLowestRate, kHighestRate},
                            .comfortable = Range{4000, 192000},
                            .unit = "Hz",
                            .important = true},
                           variableField()}},
      .means = PrepareStep::Means::sounds,
      .beforePacking = true,
      .add = addResample};
  return step;
}

}  // namespace loom
