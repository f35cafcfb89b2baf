// Projects, run folders, and what an agent and Slurm answer.
#include "engine/agent/frame.h"
#include "engine/base/foreign.h"
#include "engine/network/project.h"
#include "engine/run/control.h"
#include "engine/run/run_folder.h"
#include "engine/run/safetensors.h"
#include "tests/fuzz/fuzz.h"

using namespace loom;

LOOM_FUZZ(project) {
  try {
    const ReadProject read = readProject(bytes, "fuzz.loom");
    // What could be read is checked, written, and read again as the same.
    (void)checkProject(read.project);
    const std::string text = writeProject(read.project);
    if (read.problems.empty() && writeProject(readProject(text, "again.loom").project) != text) std::abort();
  } catch (const Error&) {
  }
}

LOOM_FUZZ(safetensors) {
  const fuzz::Folder folder;
  try {
    const TensorFile file(folder.write("weights.safetensors", bytes));
    float sum = 0;
    for (const TensorFile::Tensor& tensor : file.tensors())
      for (const float value : tensor.values) sum += value;
    volatile float kept = sum;
    (void)kept;
  } catch (const Error&) {
  }
}

LOOM_FUZZ(events) {
  const fuzz::Folder folder;
  EventReader reader(folder.write("events.jsonl", bytes));
  (void)reader.read();
  (void)lastEvent({folder.path("")});
  (void)parseEvent(bytes);
}

LOOM_FUZZ(control) {
  const fuzz::Folder folder;
  folder.write("control.jsonl", bytes);
  ControlReader reader({folder.path("")}, ControlReader::From::start);
  (void)reader.read();
}

LOOM_FUZZ(agent_frame) {
  for (const auto start : {FrameDecoder::Start::atOnce, FrameDecoder::Start::afterMarker}) {
    FrameDecoder decoder(start);
    try {
      // In two parts, as a line brings them.
      decoder.feed(bytes.substr(0, bytes.size() / 2));
      while (decoder.next()) (void)shownText(decoder.bytes());
      decoder.feed(bytes.substr(bytes.size() / 2));
      while (decoder.next()) (void)decoder.header();
    } catch (const Error&) {
    }
  }
}
