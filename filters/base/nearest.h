// "Did you mean": the nearest word of a list.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

/// The word nearest to `word` by edit distance, "" when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& words);
/// " (did you mean X?)" or "".
std::string did_you_mean(const std::string& word, const std::vector<std::string>& words);
/// "a, b, c".
std::string listing(const std::vector<std::string>& words);

}  // namespace imgpipe
