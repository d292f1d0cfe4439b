// PAM files (P7): gray, gray+alpha, RGB, RGBA and any number of plain channels, uint8 and uint16.
#pragma once

#include "io/formats/format.h"

namespace imgpipe::pam {

Format spec();

}  // namespace imgpipe::pam
