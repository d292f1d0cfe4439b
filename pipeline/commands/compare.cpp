#include "pipeline/commands/options.h"
namespace imgpipe::commands {
int compare(const Arguments&) { return not_comparable; }
}
