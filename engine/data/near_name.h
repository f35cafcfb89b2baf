#pragma once
// Why a file is not found though a person sees it in its folder.
#include <filesystem>
#include <string>

namespace loom {

// "there is 'CAFE.PNG', in other letter case" or "there is 'café.png', whose letters are composed otherwise (NFC and
// NFD)": of the entry of `path`'s folder that is meant; empty where there is none. Reads the folder.
std::string nearName(const std::filesystem::path& path);

}  // namespace loom
