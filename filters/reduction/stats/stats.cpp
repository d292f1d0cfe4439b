#include "filters/reduction/stats/stats.h"

#include <stdexcept>

namespace imgpipe::stats {

FilterSpec spec() {
  return declare(
      "reduction",
      Filter<Params>{
          .name = "stats",
          .summary = "Put count, range, mean, deviation and percentiles into the report.",
          .kind = Kind::reduction,
          .params = {field("percentiles", &Params::percentiles, Range{0, 100}, "%", "Which percentiles, at most 8.")},
          .main_param = "percentiles",
          .result = "the image, unchanged",
          .formula =
              "Over all colour samples; NaN are counted and left out, alpha is left out. The deviation is that of the "
              "population; sums are taken in a fixed order, so results do not depend on threads or device.",
          .validate =
              [](const Params& p, bool) {
                if (p.percentiles.size() > 8) throw std::invalid_argument("at most 8 percentiles");
              },
          .build =
              [](Builder& b, const StepInputs& in, const Params& p) {
                b.report(b.reduce(in.image, {.kind = ReduceOp::Kind::moments}),
                         {"count", "nan", "min", "max", "mean", "std"});
                if (p.percentiles.empty()) return in.image;
                ReduceOp op{.kind = ReduceOp::Kind::quantiles};
                std::vector<std::string> names;
                for (double percent : p.percentiles) {
                  op.fractions.push_back(percent / 100);
                  names.push_back("p" + number_text(percent));
                }
                b.report(b.reduce(in.image, std::move(op)), std::move(names));
                return in.image;
              },
      });
}

}  // namespace imgpipe::stats
