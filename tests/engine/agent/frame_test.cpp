#include "engine/agent/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/agent/sha256.h"
#include "engine/base/error.h"
#include "engine/base/json.h"

using namespace loom;
using testing::HasSubstr;

namespace {

TEST(Frame, ComesBackFromPiecesOfAnySize) {
  const std::string bytes("a\0b\nLMF1\xff", 9);
  const std::string stream = "Welcome to atlas\nquota: 91 %\n" + std::string(kStartMarker) +
                             encodeFrame({{"id", 1}, {"name", "ü \n;'\""}}, bytes) + encodeFrame({{"id", 2}});
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, stream.size()}) {
    FrameDecoder decoder(FrameDecoder::Start::afterMarker);
    std::vector<Json> headers;
    std::vector<std::string> all;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      decoder.feed(std::string_view(stream).substr(at, piece));
      while (decoder.next()) headers.push_back(decoder.header()), all.push_back(decoder.bytes());
    }
    ASSERT_EQ(headers.size(), 2u) << piece;
    EXPECT_EQ(headers[0]["name"], "ü \n;'\"");
    EXPECT_EQ(all[0], bytes);
    EXPECT_EQ(headers[1]["id"], 2);
    EXPECT_EQ(all[1], "");
  }
}

TEST(Frame, KeepsWhatAShellSaidInsteadOfTheAgent) {
  FrameDecoder decoder(FrameDecoder::Start::afterMarker);
  decoder.feed("bash: loom: command not found\n");
  EXPECT_FALSE(decoder.next());
  EXPECT_FALSE(decoder.started());
  EXPECT_EQ(decoder.preamble(), "bash: loom: command not found\n");
}

std::string faultOf(std::string_view stream, FrameDecoder::Start start = FrameDecoder::Start::atOnce) {
  FrameDecoder decoder(start);
  decoder.feed(stream);
  try {
    while (decoder.next()) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::communication);
    return error.what();
  }
  return {};
}

TEST(Frame, RefusesGarbageAndQuotesIt) {
  EXPECT_THAT(faultOf("Segmentation fault\x01"), HasSubstr("Segmentation fault\\x01"));
  EXPECT_THAT(faultOf("LMX"), HasSubstr("LMX"));  // at the third byte already
  EXPECT_THAT(faultOf(encodeFrame({{"id", 1}}) + "slurmstepd: error"), HasSubstr("slurmstepd"));
  EXPECT_THAT(faultOf(std::string("LMF1\xff\xff\xff\x7f\0\0\0\0", 12)), HasSubstr("2147483647"));
  EXPECT_THAT(faultOf(std::string("LMF1\x02\0\0\0\0\0\0\0[]", 14)), HasSubstr("no JSON object"));
  EXPECT_EQ(faultOf("LMF"), "");  // not yet
  EXPECT_THAT(faultOf(std::string(kMostBeforeMarker + 1, 'x'), FrameDecoder::Start::afterMarker),
              HasSubstr("login shell"));
}

TEST(Sha256, AgreesWithFips) {  // FIPS 180-4's own examples, and the million a of its predecessor
  const auto hash = [](std::string_view text) {
    Sha256 sum;
    sum.add(text);
    return sum.finish();
  };
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  Sha256 pieces;
  for (int i = 0; i < 1000; ++i) pieces.add(std::string(1000, 'a'));
  EXPECT_EQ(pieces.finish(), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  for (std::size_t length = 50; length < 70; ++length) {  // around the place where the padding needs a block of its own
    const std::string text(length, 'q');
    Sha256 one;
    for (const char c : text) one.add(std::string_view(&c, 1));
    EXPECT_EQ(one.finish(), hash(text)) << length;
  }
}

}  // namespace
