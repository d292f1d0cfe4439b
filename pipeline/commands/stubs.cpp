#include "pipeline/commands/command.h"
namespace imgpipe::commands {
int run(const Arguments&) { return 2; } int check(const Arguments&) { return 2; } int explain(const Arguments&) { return 2; } int compare(const Arguments&) { return 2; }
int filters(const Arguments&) { return 2; } int info(const Arguments&) { return 2; } int devices(const Arguments&) { return 2; } int bench(const Arguments&) { return 2; }
}
