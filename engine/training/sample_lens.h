#pragma once
// What a network sees in one sample: the values of every layer, and which places of the sample one of its values hangs
// on, by three measures. Knows no dataset: the caller fills the inputs. In f32, in evaluation mode. One thread.
//
//   gradient   d value / d input at each place; of several channels the greatest magnitude (Simonyan et al. 2013,
//              arXiv:1312.6034), of one the slope with its sign.
//   Grad-CAM   max(0, sum over k of a_k A_k) of the channels A_k of a layer with positions, a_k = mean over positions
//   of
//              d value / d A_k (Selvaraju et al. 2017, arXiv:1610.02391). As large as the layer.
//   occlusion  how much less is said without this place: windows set to 0 as the network takes it (behind the
//              preparation), one after the other; at a place the mean over the windows that cover it (Zeiler and Fergus
//              2013, arXiv:1311.2901). 0 = nothing hangs on it, below 0 = more is said without it.
//
// A value is meant as the network computes it: of classes the number before the softmax.
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/network/network.h"
#include "engine/program/backend.h"
#include "engine/run/sample_look.h"

namespace loom {

// What is asked about: a place in the output, row-major; or a class at all positions of one, which are summed.
struct LensValue {
  std::int64_t at = 0;
  std::int64_t every = 0;  // the class's values lie so far apart; 0: it is one place
};

struct OcclusionOptions {
  std::int64_t window = 0, stride = 0;  // places; 0 = a quarter of the shorter edge, and half a window
  // What is compared, of the output's values; null = the value itself. Classes: its share.
  std::function<double(std::span<const float> output)> score;
  std::function<bool()> stopped;  // asked now and then: Error(stopped)
};

class SampleLens {
 public:
  struct Layer {
    std::string name;  // as resultName()
    Shape shape;       // of one sample
    // Channels over several places: what Grad-CAM wants.
    bool hasPlaces() const { return shape.rank() == 3 && shape[1] * shape[2] > 1; }
  };

  // `output`: which of the network's results for a prediction. The store gets what the network needs of it, with
  // initial values: whoever wants trained ones restores them afterwards. Both outlive this. Throws Error(device) where
  // one sample takes more memory than a look may, and what lowering throws.
  SampleLens(Backend& backend, ParameterStore& store, const Network& network, const std::string& output,
             std::uint64_t seed, int threads);
  ~SampleLens();

  const Program& program() const;  // of one sample; its inputs are what input() wants
  // Where the values of one sample are written, in the input's type. They stay until they are written again.
  std::span<std::byte> input(const std::string& name);
  void changed() { m_ran = false; }  // an input, or the weights

  // In the order in which they are computed, the inputs first.
  const std::vector<Layer>& layers() const { return m_layers; }
  const Layer& layer(const std::string& name) const;  // throws Error(badArgument) that names those there are
  // The layer that Grad-CAM takes where none is named: the last with places before the output. Throws
  // Error(badArgument) where there is none.
  const Layer& lastWithPlaces() const;
  const std::string& seen() const { return m_seen; }  // the input that is looked at: the one with most values

  std::vector<float> output();
  std::vector<float> valuesOf(const std::string& layer);
  std::vector<float> slopes(LensValue value);  // of seen(): d value / d each of its numbers
  SampleMap gradient(LensValue value);
  SampleMap gradCam(LensValue value, const std::string& layer);
  SampleMap occlusion(LensValue value, const OcclusionOptions& options = {});

 private:
  void run(LensValue value);  // the backward part for this value of the output
  std::vector<float> read(const std::string& result) const;
  void fill(Executable& executable, std::int64_t copies) const;
  void requireNumbers(const char* what) const;
  LensValue checked(LensValue value) const;

  Backend& m_backend;
  ParameterStore& m_store;
  Network m_network;  // the part that leads to the output
  std::string m_output, m_seen;
  std::uint64_t m_seed;
  CompileOptions m_options;
  Shape m_seenShape;
  std::vector<Layer> m_layers;
  std::map<std::string, std::vector<std::byte>> m_inputs;
  std::unique_ptr<Executable> m_single, m_many;  // with its backward part; of several samples at once
  bool m_ran = false;
  LensValue m_value;  // of the newest run
};

}  // namespace loom
