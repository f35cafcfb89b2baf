// Sounds brought to one rate: against scipy (sound_scipy.py), against sines, in packs and out of them.
#include "engine/data/sound_rate.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "engine/data/check.h"
#include "engine/data/dataset.h"
#include "engine/data/loader.h"
#include "tests/engine/data/data_files.h"
#include "tests/engine/data/sample_files.h"

namespace loom {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct FromScipy {
  int from, to;
  std::vector<double> values;
};
const FromScipy kFromScipy[] = {
    {8000,
     16000,
     {-1.00051747,   -0.363169547,  0.217503798,     -0.0669224236, -0.565509875,   -0.226532192,  0.652511394,
      0.800195901,   -0.130502279,  -1.04336864,     -0.913515951,  -0.0898161437,  0.304505317,   -0.0932474045,
      -0.478508356,  -0.0689270511, 0.739512913,     0.844008347,   -0.0435007596,  -0.931377027,  -0.826514432,
      -0.0157050124, 0.391506836,   -6.50521303e-18, -0.391506836,  0.0157050124,   0.826514432,   0.935582862,
      0.0435007596,  -0.85450137,   -0.739512913,    0.0907858492,  0.478508356,    0.0526852883,  -0.304505317,
      0.15857643,    0.913515951,   0.934401904,     0.130502279,   -0.630229126,   -0.652511394,  -0.0434557621,
      0.565509875,   0.543317602,   -0.217503798,    -1.02131343,   -1.00051747,    -0.245487954,  0.217503798,
      -0.139596813,  -0.565509875,  -0.177697373,    0.652511394,   0.767589846,    -0.130502279,  -1.02249439,
      -0.913515951,  -0.102616537,  0.304505317,     -0.0869115243, -0.478508356,   -0.0718465302, 0.739512913,
      0.847912755,   -0.0435007596, -0.93866379,     -0.826514432,  -0.00358426009, 0.391506836,   -0.0184025724,
      -0.391506836,  0.0427472061,  0.826514432,     0.893795527,   0.0435007596,   -0.788458162,  -0.739512913,
      -0.026461154,  0.478508356,   0.363022859}},
    {16000, 8000, {-0.527938146,   0.0518002358, -0.109619933,  -0.360109296,  0.356750567,  -0.44818134, 0.285937515,
                   0.000964235578, -0.105581079, 0.413073636,   -0.0684722707, -0.174487953, -0.46092924, 0.276209567,
                   -0.534109569,   0.191551163,  -0.0723823174, -0.215281885,  0.36297948,   -0.22621492}},
    {44100,
     16000,
     {-0.320528046, -0.0551678263, -0.183081965, 0.0129275349, -0.0745177569, 0.111001401, -0.00356886482, 0.28932033,
      -0.41578969, -0.0413186574, -0.21957308, 0.0142841333, -0.109373031, 0.113286527, -0.0191653302}},
    {22050, 48000, {-1.00067513,   -0.430595536,  0.176665374,  0.0697562622, -0.46044991,  -0.485267696,  0.235799555,
                    0.865561755,   0.562312356,   -0.437904748, -1.1089272,   -0.840347761, -0.0705572186, 0.306303637,
                    -0.0140389551, -0.449246168,  -0.277135867, 0.456319985,  0.935900974,  0.523872041,   -0.448666799,
                    -1.01925472,   -0.678100837,  0.0823229788, 0.388239595,  0.018162523,  -0.380913346,  -0.125417156,
                    0.629270861,   1.02763958,    0.514420723,  -0.471761009, -0.948184357, -0.499435124,  0.260536578,
                    0.454101056,   0.00874592284, -0.304695031, 0.0905288728, 0.815800605,  1.02599625,    0.442916312,
                    -0.38308412,   -0.745435181,  -0.439911698, 0.202539345,  0.638644765,  0.450181741,   -0.312886019,
                    -1.03043661,   -1.03111871,   -0.362672708, 0.187241301,  0.0311398801, -0.46743414,   -0.471630152,
                    0.210635992,   0.827029717,   0.586775933,  -0.360152534, -1.07203999,  -0.88561799,   -0.132261932,
                    0.30301991,    0.0277059724,  -0.431464179, -0.315408645, 0.401901151,  0.931119568,   0.582610958,
                    -0.387054175,  -1.01649671,   -0.722570363, 0.0490891409, 0.392328612,  0.0364830968,  -0.376091141,
                    -0.142179985,  0.594164473,   0.997859065,  0.54166111,   -0.375266941, -0.884412518,  -0.58746924,
                    0.0996930035,  0.49305853,    0.358790741,  0.0206621886}},
    {8000, 11025, {-1.00067514,  -0.0181598838, -0.00930520632, -0.563324114, 0.500342369,   0.638926312, -0.860083575,
                   -0.801361135, 0.255356265,   -0.128636138,   -0.374358115, 0.716569713,   0.56060789,  -0.858891944,
                   -0.595057515, 0.376221189,   -0.125695118,   -0.209260855, 0.896941513,   0.503379347, -0.866076122,
                   -0.363262165, 0.48211227,    -0.15340387,    0.0294107131, 1.02254829,    0.384175447, -0.697452715,
                   -0.30405655,  0.595107856,   0.198872428,    -1.01589765,  -0.707200527,  0.208959489, -0.337875184,
                   -0.327396778, 0.783627273,   0.204886832,    -1.07895497,  -0.441911997,  0.301242357, -0.35287749,
                   -0.108488071, 0.917318072,   0.118609191,    -1.02785838,  -0.206030005,  0.358030724, -0.33720101,
                   0.132427357,  0.997918633,   0.0293198778,   -0.889676789, -0.0900294693, 0.501386536, 0.057243005}},
};

std::vector<float> sine(int rate, double pitch, int frames) {
  std::vector<float> values;
  for (int i = 0; i < frames; ++i)
    values.push_back(static_cast<float>(std::sin(2 * std::numbers::pi * pitch * i / rate)));
  return values;
}

std::vector<float> atRate(const std::vector<float>& in, int from, int to, std::int64_t channels = 1) {
  std::vector<float> out;
  resampleSound(in, channels, from, to, out);
  return out;
}

TEST(SoundRate, IsScipysResamplePoly) {
  std::vector<float> x;
  for (int i = 0; i < 40; ++i) x.push_back(static_cast<float>(i * 37 % 23 / 11.5 - 1));
  for (const FromScipy& wanted : kFromScipy) {
    const std::vector<float> made = atRate(x, wanted.from, wanted.to);
    ASSERT_EQ(made.size(), wanted.values.size()) << wanted.from << " to " << wanted.to;
    for (std::size_t i = 0; i < made.size(); ++i)
      EXPECT_NEAR(made[i], wanted.values[i], 5e-7) << wanted.from << " to " << wanted.to << ", sample " << i;
  }
}

TEST(SoundRate, KeepsAToneAndLosesWhatTheNewRateCannotHold) {
  for (const auto& [from, to] : {std::pair{44100, 16000}, {8000, 16000}, {48000, 44100}}) {
    const std::vector<float> made = atRate(sine(from, 1000, from), from, to), wanted = sine(to, 1000, to);
    ASSERT_EQ(made.size(), wanted.size());
    for (std::size_t i = 200; i + 200 < made.size(); ++i) ASSERT_NEAR(made[i], wanted[i], 1.2e-3) << from << " " << i;
  }
  // 10 kHz at 16,000 samples a second would come back as 6 kHz.
  const std::vector<float> gone = atRate(sine(44100, 10000, 44100), 44100, 16000);
  for (std::size_t i = 200; i + 200 < gone.size(); ++i) ASSERT_NEAR(gone[i], 0, 2e-3);
}

TEST(SoundRate, ChannelsStayApart) {
  const std::vector<float> left = sine(8000, 300, 50), right = sine(8000, 700, 50);
  std::vector<float> both;
  for (std::size_t i = 0; i < left.size(); ++i) both.insert(both.end(), {left[i], right[i]});
  const std::vector<float> made = atRate(both, 8000, 11025, 2), one = atRate(left, 8000, 11025),
                           other = atRate(right, 8000, 11025);
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(made[2 * i], one[i]);
    EXPECT_EQ(made[2 * i + 1], other[i]);
  }
}

class SoundRates : public testing::Test {
 protected:
  void wav(const std::string& name, int rate, double pitch, int frames) const {
    files::Bytes bytes;
    for (const float value : sine(rate, pitch, frames)) {
      const auto number = static_cast<std::int16_t>(std::lround(16000 * value));
      bytes.push_back(static_cast<unsigned char>(number & 0xff));
      bytes.push_back(static_cast<unsigned char>(number >> 8 & 0xff));
    }
    folder.write(name, files::wav(1, 1, 16, bytes, rate));
  }
  static Json resample(int rate) { return {{"step", "Resample"}, {"rate", rate}}; }
  ScratchFolder folder;
};

TEST_F(SoundRates, AreOneInAPackWhateverTheRowsAndThreads) {
  wav("slow.wav", 8000, 440, 800);
  wav("fast.wav", 16000, 440, 1600);
  OpenOptions options;
  options.prepare = {resample(16000)};
  const auto one = openDataset(folder.write("one.csv", "x\nslow.wav\n"), options);
  EXPECT_EQ(one->schema().variables[0].shape, (Shape{1600, 1}));
  std::string text = "x\n";
  for (int i = 0; i < 300; ++i) text += i % 2 ? "slow.wav\n" : "fast.wav\n";
  const auto many = openDataset(folder.write("many.csv", text), options);
  EXPECT_FALSE(many->schema().variables[0].varying());
  const auto alone = one->read(0, 0);
  for (std::int64_t row = 0; row < many->size(); ++row) {
    const auto read = many->read(row, 0);
    ASSERT_EQ(read.size(), alone.size());
    if (row % 2) EXPECT_TRUE(std::equal(read.begin(), read.end(), alone.begin())) << row;
  }
  // Doing it again where samples are read changes nothing, and without the step all is as it was.
  EXPECT_EQ(preparedShape(many->schema().variables[0], options.prepare), (Shape{1600, 1}));
  EXPECT_TRUE(openDataset(folder.path() / "many.csv")->schema().variables[0].varying());
}

TEST_F(SoundRates, AreRefusedBehindOtherStepsOnPicturesAndInAPackOfAnother) {
  wav("a.wav", 8000, 440, 80);
  const auto csv = folder.write("a.csv", "x\na.wav\n");
  const auto data = openDataset(csv);
  const Variable& sound = data->schema().variables[0];
  EXPECT_THAT(messageOf([&] {
                preparedShape(sound, {{{"step", "Crop"}, {"size", {40}}}, resample(16000)});
              }),
              HasSubstr("move it before the other steps of x"));
  const Variable picture{.name = "p", .kind = VariableKind::image, .shape = {1, 4, 4}, .smallest = {1, 4, 4}};
  EXPECT_EQ(preparedShape(picture, {resample(16000)}), (Shape{1, 4, 4}));  // it means sounds
  Json named = resample(16000);
  named["variable"] = "p";
  EXPECT_THAT(messageOf([&] { preparedShape(picture, {named}); }), HasSubstr("Resize brings those to one size"));
  OpenOptions options;
  options.prepare = {resample(16000)};
  openDataset(csv, options);
  const auto pack = cachePath(csv, options);
  EXPECT_EQ(openDataset(pack, options)->schema().variables[0].shape, (Shape{160, 1}));
  options.prepare = {resample(11025)};
  EXPECT_THAT(messageOf([&] { openDataset(pack, options); }),
              HasSubstr("holds the sounds of x at 16000 samples a second, but the step Resample wants 11025"));
}

TEST_F(SoundRates, AreFoundAndLengthsToldAsTheyBecome) {
  wav("a.wav", 8000, 440, 800);
  wav("b.wav", 16000, 440, 1600);
  wav("c.wav", 16000, 440, 2000);
  const CheckReport report = checkDataset(folder.write("t.csv", "x,y:label\na.wav,0\nb.wav,1\nc.wav,0\n"));
  ASSERT_EQ(report.clips.size(), 1u);
  const std::vector<Fault> found = clipFaults(report.clips[0], 0);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].step, Json({{"step", "Resample"}, {"rate", 16000}, {"variable", "x"}}));
  EXPECT_THAT(found[1].found,
              HasSubstr("the clips have 1600 to 2000 steps (0.10 to 0.12 s) at 16000 samples a second"));
  EXPECT_EQ(found[1].step, Json({{"step", "Pad"}, {"to", {2000}}, {"variable", "x"}}));
  const std::vector<Fault> behind = clipFaults(report.clips[0], 8000);
  ASSERT_EQ(behind.size(), 1u);
  EXPECT_EQ(behind[0].step, Json({{"step", "Pad"}, {"to", {1000}}, {"variable", "x"}}));
}

}  // namespace
}  // namespace loom
