#pragma once
// Networks and projects that tests draw: written as a person would write the file.
#include <string>

#include "engine/network/project.h"

namespace loom {

// A network from a short text: one line a node, "id Layer key=json ... <- source, source.port; target: source".
//   fc Linear outputs=10 <- relu
//   loss SoftmaxCrossEntropy <- fc; target: y
Network drawn(const std::string& text, const std::string& name = "main");

Network leNet();
Network resNet20();
Network textClassifier();  // Embedding, LSTM both ways
Network characterTransformer();
// A project with the two networks of a tiny GAN, which share the generator and the discriminator.
std::string ganProject();
// Units in units, repeats, groups, expressions over arguments, counters and shapes.
std::string unitProject();
// The example of the project's format.
std::string exampleProject();

std::vector<std::string> messages(const std::vector<Problem>& problems);

}  // namespace loom
