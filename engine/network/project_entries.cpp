#include <algorithm>

#include "engine/comm/reductions/reduction.h"
#include "engine/network/method_entries.h"
#include "engine/network/project.h"

namespace loom {
namespace {

Entry settings() {
  Entry entry;
  entry.id = entry.label = "Training";
  entry.category = "settings";
  entry.icon = "settings";
  entry.summary = "How long and in what steps a run trains.";
  entry.help =
      "A step is one update of the weights. Batch counts all samples of a step, over all ranks and accumulation "
      "passes (the global batch). An epoch is one pass over the training set. Everything random follows from the "
      "seed, so that a run can be repeated.";
  entry.fields = {
      // The run.
      {.key = "epochs",
       .label = "Epochs",
       .help = "Passes over the training set; fractions are possible. 0 only writes the untrained network.",
       .type = FieldType::real,
       .defaultValue = 10,
       .hard = Range{0, 1e6},
       .comfortable = Range{0.01, 1000},
       .unit = "epochs",
       .important = true},
      {.key = "max_steps",
       .label = "Most steps",
       .help = "Ends the run after so many steps even where epochs are left. Absent: no limit.",
       .type = FieldType::integer,
       .defaultValue = nullptr,
       .hard = Range{1, 1e12},
       .unit = "steps",
       .optional = true},
      {.key = "batch",
       .label = "Batch",
       .help = "Samples of one step, over all ranks and accumulation passes. Larger batches use a machine better and "
               "usually want a higher learning rate.",
       .type = FieldType::integer,
       .defaultValue = 64,
       .hard = Range{1, 1e9},
       .comfortable = Range{2, 65536},
       .unit = "samples",
       .important = true},
      {.key = "batch_at",
       .label = "Batch changes at",
       .help = "Whole epochs behind which the batch is another one, such as 30, 45, 75; empty: it stays. The learning "
               "rate goes on as if nothing had changed, so that a growing batch takes the place of a falling rate "
               "(batch-size control; Smith et al. 2017). It pays late in a run, where noise in the gradient hurts and "
               "larger batches use the machine better.",
       .type = FieldType::reals,
       .defaultValue = Json::array(),
       .hard = Range{1, 1e6},
       .unit = "epochs"},
      {.key = "batch_then",
       .label = "Batch then",
       .help = "The batch from each of these epochs on, such as 69632, 87040, 121856.",
       .type = FieldType::reals,
       .defaultValue = Json::array(),
       .hard = Range{1, 1e9},
       .unit = "samples"},
      {.key = "accumulate",
       .label = "Accumulation",
       .help = "Passes in which a rank computes its part of the batch, adding up gradients: the same step with "
               "less memory. Batch normalisation sees each pass by itself.",
       .type = FieldType::integer,
       .defaultValue = 1,
       .hard = Range{1, 65536},
       .comfortable = Range{1, 64},
       .unit = "passes"},
      {.key = "rate_scaling",
       .label = "Scale the rate",
       .help = "Multiplies the learning rate by what the batch has grown over the base batch: in proportion for SGD "
               "and Momentum "
               "(Goyal et al. 2017), by the square root for Adam and LAMB.",
       .type = FieldType::choice,
       .defaultValue = "none",
       .choices = {{"none", "Not", "The learning rate is meant for this batch."},
                   {"linear", "Linear", "Learning rate · batch / base batch."},
                   {"square_root", "Square root", "Learning rate · √(batch / base batch)."}}},
      {.key = "base_batch",
       .label = "Base batch",
       .help = "The batch for which the learning rate was found.",
       .type = FieldType::integer,
       .defaultValue = 256,
       .hard = Range{1, 1e9},
       .unit = "samples"},
      {.key = "watch_gradients",
       .label = "Watch gradients",
       .help =
           "Measures while it trains how noisy the gradient is (the noise scale, from the parts of a step: it takes "
           "several ranks or passes) and how large its numbers are. Every fourth step costs a norm, and on several "
           "ranks what the exchange would have overlapped; GPUs then add gradients up through their hosts.",
       .type = FieldType::boolean,
       .defaultValue = false},
      {.key = "shuffle",
       .label = "Shuffle",
       .help = "Reads the training set in a new order each epoch, a function of the seed.",
       .type = FieldType::boolean,
       .defaultValue = true},
      {.key = "oversample",
       .label = "Oversample",
       .help =
           "A column of classes, such as y: in an epoch each class is seen as often as the largest, so that rare "
           "ones count as much; their rows come several times, prepared at random each time. Empty: every row once. "
           "Validation keeps its shares.",
       .type = FieldType::text,
       .defaultValue = ""},
      {.key = "weigh_classes",
       .label = "Weigh classes",
       .help =
           "Gives each loss of classes without class weights of its own those of scikit-learn's \"balanced\", "
           "n / (k · n of the class), so that rare classes count as much as frequent ones: measured on the training "
           "set, kept in the run. Training and validation loss both count so. An epoch stays as long as it is, where "
           "Oversample shows rare rows several times.",
       .type = FieldType::choice,
       .defaultValue = "none",
       .choices = {{"none", "Not", "Every sample counts alike."},
                   {"balanced", "As rare as they are", "All classes count alike."}}},
      {.key = "drop_last",
       .label = "Drop last",
       .help = "Leaves out the samples at the end of an epoch that fill no whole batch.",
       .type = FieldType::boolean,
       .defaultValue = false},
      {.key = "seed",
       .label = "Seed",
       .help = "Initial weights, dropout, shuffling and random preparation follow from it.",
       .type = FieldType::integer,
       .defaultValue = 1,
       .hard = Range{0, 9007199254740991.0}},
      {.key = "start_from",
       .label = "Start from",
       .help = "A .safetensors file of weights, or the folder of a run, with which training begins instead of random "
               "numbers. Tensors are "
               "found by name, by the same path in another spelling (layer1.0.conv1.weight), and by shape in the order "
               "of the network; "
               "what is not found begins as usual. Absent: random numbers.",
       .type = FieldType::file,
       .defaultValue = nullptr,
       .optional = true,
       .absent = "random"},
      {.key = "start_from_parameters",
       .label = "Of these weights",
       .help = "Patterns of the names of the weights that are taken from there, such as stage*/*; empty: all.",
       .type = FieldType::texts,
       .defaultValue = Json::array()},
      // Numbers.
      {.key = "precision",
       .label = "Precision",
       .help = "Of what is multiplied in layers; weights and sums stay in 32 bits.",
       .type = FieldType::choice,
       .defaultValue = "f32",
       .choices =
           {{"f32", "32 bits", "Exact and everywhere fast enough."},
            {"bf16", "16 bits, bfloat",
             "The range of 32 bits and three digits in products; about twice as fast where the machine has it."},
            {"f16", "16 bits, half", "A small range: the loss is scaled. For GPUs."},
            {"auto", "What is faster here",
             "Bfloat where a step is at least 1.1 times as fast with it as in 32 bits, by what was measured on the "
             "machine that trains; else 32 bits. The run says which."}}},
      {.key = "tf32",
       .label = "TF32",
       .help = "On GPUs: numbers of 32 bits are rounded to 11 before they are multiplied in convolutions and products "
               "(about three digits), and summed in 32 as before; several times as fast there. Concerns what is "
               "multiplied in 32 bits only. A processor ignores it.",
       .type = FieldType::boolean,
       .defaultValue = false},
      {.key = "clip_norm",
       .label = "Clip norm",
       .help = "Scales the gradient of a step down to this norm where it is longer, over all weights together. Absent: "
               "no limit.",
       .type = FieldType::real,
       .defaultValue = nullptr,
       .hard = Range{1e-12, 1e12},
       .comfortable = Range{0.01, 100},
       .optional = true},
      {.key = "evaluated_weights",
       .label = "Evaluated weights",
       .help =
           "Which weights a run is judged by and leaves for evaluation, prediction and export. The average costs a "
           "number a weight, on every machine, and pays in runs whose rate does not fall to nothing: it stands where "
           "the last steps go to and fro. Running statistics of batch normalisation are taken anew for it, over some "
           "2,000 samples, whenever it is "
           "looked at.",
       .type = FieldType::choice,
       .defaultValue = "last",
       .choices = {{"last", "The last", "As the rule left them."},
                   {"average", "Their average",
                    "An exponential average over the steps (EMA); training goes on from "
                    "the last ones."}}},
      {.key = "average_decay",
       .label = "Average keeps",
       .help = "The share of the average that a step keeps: 0.999 looks back some thousand steps. Less at first, "
               "(1 + t) / (10 + t) behind t steps. Read where the average is what is evaluated.",
       .type = FieldType::real,
       .defaultValue = 0.999,
       .hard = Range{1e-6, 0.9999999},
       .comfortable = Range{0.9, 0.99999}},
      {.key = "memory_budget",
       .label = "Memory budget",
       .help =
           "What a step computes may take so much beside weights, gradients and inputs, on each rank. Where it would "
           "take more, a part of the activations is not kept for the backward part but computed again there: the "
           "same numbers to the bit, in more time. loom plan shows what it takes and what the budget costs. Absent: no "
           "limit.",
       .type = FieldType::real,
       .defaultValue = nullptr,
       .hard = Range{0.001, 1e9},
       .unit = "MiB",
       .optional = true},
      {.key = "threads",
       .label = "Threads",
       .help = "Of the processor; 0 takes as many as the machine gives.",
       .type = FieldType::integer,
       .defaultValue = 0,
       .hard = Range{0, 4096},
       .unit = "threads"},
      // Ranks.
      {.key = "virtual_ranks",
       .label = "Virtual ranks",
       .help = "Computes the parts of so many ranks one after another, with the arithmetic of a run on as many: to "
               "study a large "
               "run on a small machine. 0: as many as there are ranks.",
       .type = FieldType::integer,
       .defaultValue = 0,
       .hard = Range{0, 65536},
       .comfortable = Range{0, 1024},
       .unit = "ranks"},
      {.key = "deterministic",
       .label = "Deterministic",
       .help = "The same bits on any number of ranks: a step is 24 shards (or as many as there are virtual ranks), "
               "each computed by "
               "one thread of its rank, summed in a fixed order. Slower: start a rank for each core.",
       .type = FieldType::boolean,
       .defaultValue = false},
      {.key = "wire",
       .label = "Gradients travel in",
       .help = "The numbers in which ranks send each other their gradients; sums are taken in 32 bits.",
       .type = FieldType::choice,
       .defaultValue = "f32",
       .choices = {{"f32", "32 bits", "Exact."},
                   {"bf16", "16 bits, bfloat", "Half the bytes and three digits."},
                   {"f16", "16 bits, half", "Half the bytes; each block has a scale of its own and keeps 11 bits."}}},
      {.key = "fusion",
       .label = "Message size",
       .help = "Gradients travel together up to this size. Smaller ones leave earlier, larger ones cost fewer "
               "messages; 0 sends each "
               "by itself.",
       .type = FieldType::real,
       .defaultValue = 2.0,
       .hard = Range{0, 1024},
       .comfortable = Range{0, 128},
       .unit = "MiB"},
      {.key = "batch_statistics",
       .label = "Batch statistics",
       .help = "What batch normalisation takes its mean and variance of, and what validation uses.",
       .type = FieldType::choice,
       .defaultValue = "per_shard",
       .choices = {{"per_shard", "Per shard",
                    "Of what a rank computes at once; moving averages are those of all shards."},
                   {"synchronised", "All ranks", "Of the whole step, over all ranks: one more message for each layer."},
                   {"last_batch", "Without moving averages",
                    "Per shard; validation uses the mean over the shards of the last step (Akiba et al. 2017)."}}},
      // Watching and keeping.
      {.key = "validate_every",
       .label = "Validate every",
       .help = "How often the validation set is evaluated; 0 = never.",
       .type = FieldType::real,
       .defaultValue = 1,
       .hard = Range{0, 1e6},
       .comfortable = Range{0, 100},
       .unit = "epochs"},
      {.key = "monitor",
       .label = "Best by",
       .help = "Which validation result decides what the best weights are: \"loss\", or the name of a metric or loss "
               "in the network.",
       .type = FieldType::text,
       .defaultValue = "loss"},
      {.key = "checkpoint_every",
       .label = "Keep every",
       .help = "Keeps a checkpoint for good each so many epochs, beside the best and the last. Absent: only these two.",
       .type = FieldType::real,
       .defaultValue = nullptr,
       .hard = Range{0.001, 1e6},
       .unit = "epochs",
       .optional = true},
      {.key = "record_layers",
       .label = "Record layers",
       .help =
           "Each so many steps, from the first on, the run's events tell of every layer: gradient norm, update ratio, "
           "dead units, and how its activations and gradients are distributed. Costs about one more step each "
           "time, and memory for the values of all layers at once. 0: never, at no cost.",
       .type = FieldType::integer,
       .defaultValue = 0,
       .hard = Range{0, 1e9},
       .comfortable = Range{0, 10000},
       .unit = "steps"}};
  const auto behind =
      std::find_if(entry.fields.begin(), entry.fields.end(), [](const Field& field) { return field.key == "wire"; });
  const std::vector<Field> reductions = reductionFields();
  entry.fields.insert(behind, reductions.begin(), reductions.end());
  addMethodEntries(entry);
  return entry;
}

Entry validation() {
  Entry entry;
  entry.id = entry.label = "Validation";
  entry.category = "settings";
  entry.summary = "What is evaluated beside the training.";
  entry.fields = {{.key = "validation",
                   .label = "Validation set",
                   .help = "Dataset that is evaluated and never trained on; absent: none.",
                   .type = FieldType::text,
                   .defaultValue = nullptr,
                   .optional = true},
                  {.key = "validation_network",
                   .label = "Validation network",
                   .help = "Network that is evaluated; absent: the first update's.",
                   .type = FieldType::text,
                   .defaultValue = nullptr,
                   .optional = true}};
  return entry;
}

Entry update() {
  Entry entry;
  entry.id = entry.label = "Update";
  entry.category = "settings";
  entry.icon = "optimizer";
  entry.summary = "One rule by which weights change: which network's loss, which data, which weights.";
  entry.help =
      "Most projects have one. A GAN has two, one for each of its networks, each with its own part of the weights.";
  entry.fields = {
      {.key = "network",
       .label = "Network",
       .help = "Whose losses are made smaller.",
       .type = FieldType::text,
       .defaultValue = "main",
       .important = true},
      {.key = "dataset",
       .label = "Dataset",
       .help = "Where its Inputs read.",
       .type = FieldType::text,
       .defaultValue = "training",
       .important = true},
      {.key = "parameters",
       .label = "Parameters",
       .help = "Patterns of the names of the weights that change, such as generator_*/*; empty: all of the network.",
       .type = FieldType::texts,
       .defaultValue = Json::array()},
      {.key = "decay_exclude",
       .label = "No decay",
       .help = "What weight decay leaves alone: the kinds bias and normalisation, or patterns of names.",
       .type = FieldType::texts,
       .defaultValue = Json::array({"bias", "normalisation"})},
      {.key = "every",
       .label = "Every",
       .help = "Runs at steps that are divisible by this.",
       .type = FieldType::integer,
       .defaultValue = 1,
       .hard = Range{1, 1e6},
       .unit = "steps"}};
  return entry;
}

}  // namespace

const Entry& settingsEntry() {
  static const Entry entry = settings();
  return entry;
}

const Entry& validationEntry() {
  static const Entry entry = validation();
  return entry;
}

const Entry& updateEntry() {
  static const Entry entry = update();
  return entry;
}

UpdateSpec defaultUpdate() {
  UpdateSpec update;
  update.optimizer = Json{{"name", "Adam"}};
  update.schedule = Json{{"name", "Constant"}};
  return update;
}

}  // namespace loom
