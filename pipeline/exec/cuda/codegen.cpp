#include "pipeline/exec/cuda/codegen.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "pipeline/plan/stages.h"

namespace imgpipe::cuda {
namespace {

/// Pixels that a thread handles at once where pixels are independent.
constexpr int flat_pack = 8;
/// Resident blocks of 256 threads asked for then: enough loads under way to keep memory busy.
constexpr int flat_blocks = 5;
constexpr std::int64_t shared_limit = 227 * 1024;

const char* c_name(DType type) {
  constexpr const char* names[] = {"u8", "i8", "u16", "i16", "u32", "i32", "float", "double"};
  return names[static_cast<int>(type)];
}

std::string region(const Halo& halo, const std::array<int, 3>& tile) {
  return fmt::format("Region<{}, {}, {}, {}, {}, {}>", -halo.low[0], tile[0] + halo.high[0], -halo.low[1],
                     tile[1] + halo.high[1], -halo.low[2], tile[2] + halo.high[2]);
}

std::string hash_name(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (unsigned char c : text) hash = (hash ^ c) * 1099511628211ull;
  return fmt::format("group_{:016x}", hash);
}

class Generator {
 public:
  Generator(const Graph& graph, const Group& group, bool flat_images, int threads) : graph_(graph), group_(group) {
    kernel_.threads = threads;
    kernel_.flat = flat_images && group.tile[0] == 0 && !reads_position();
    kernel_.merged_channels = kernel_.flat && channels_are_alike();
    kernel_.tile = group.tile[0] > 0 ? group.tile : std::array<int, 3>{threads * flat_pack, 1, 1};
  }

  KernelSource run() {
    std::vector<std::int64_t> offsets;
    const std::int64_t bytes = tile_bytes(graph_, group_, &offsets);
    in_memory_ = bytes > shared_limit;
    (in_memory_ ? kernel_.scratch_bytes : kernel_.shared_bytes) = bytes;
    arguments();
    body(offsets);
    const std::string name = hash_name(fmt::format("{}{}{}{}", includes_, args_, body_, kernel_.threads));
    const std::int64_t fit = bytes == 0 || in_memory_ ? resident(4) : shared_limit / (bytes + 1024);
    const int blocks =
        group_.tile[0] == 0 ? resident(flat_blocks) : static_cast<int>(std::clamp<std::int64_t>(fit, 1, resident(4)));
    kernel_.text =
        fmt::format("{}\nnamespace imgpipe {{\nnamespace {} {{\n{}\n{}\nIMGPIPE_KERNEL({}, Args, {}, {})\n}}\n}}\n",
                    includes_, name, args_, body_, name, kernel_.threads, blocks);
    kernel_.name = name;
    return std::move(kernel_);
  }

 private:
  const GraphNode& node(int n) const { return graph_.nodes[n]; }
  const ValueInfo& info(int n) const { return node(n).value; }
  std::string type(int n) const { return imgpipe::c_name(info(n).compute); }
  std::string sample(int n) const { return c_name(info(source_of(graph_, n).value).storage()); }
  int channels(int n) const { return kernel_.merged_channels ? 1 : info(n).desc.channels; }
  int alpha(int n) const { return info(n).desc.alpha ? info(n).desc.channels - 1 : -1; }

  bool reads_position() const {
    return std::any_of(group_.nodes.begin(), group_.nodes.end(), [&](int n) {
      const auto* pixel = std::get_if<PixelOp>(&node(n).op);
      return pixel && pixel->reads_position;
    });
  }

  bool channels_are_alike() const {
    std::vector<int> values = group_.nodes;
    values.insert(values.end(), group_.loads.begin(), group_.loads.end());
    for (int n : values) {
      const auto* pixel = std::get_if<PixelOp>(&node(n).op);
      if (pixel && !pixel->channelwise && info(n).desc.channels > 1) return false;
      if (info(n).desc.alpha || info(n).desc.channels != info(values[0]).desc.channels) return false;
    }
    return true;
  }

  const TileValue* kept(int value) const {
    for (const TileValue& t : group_.tile_values)
      if (t.value == value) return &t;
    return nullptr;
  }

  void argument(Argument::Kind kind, int n, const std::string& text) {
    kernel_.arguments.push_back({kind, n});
    args_ += fmt::format("  alignas(16) {};\n", text);
  }

  void include(const DeviceCode& code) {
    if (!code.source.empty() && sources_.insert(code.source).second) extra_ += code.source + "\n";
    headers_.insert(code.header);
  }

  void arguments() {
    args_ = "struct Args {\n";
    argument(Argument::Kind::frame, 0, "Frame frame");
    for (int v : group_.loads) argument(Argument::Kind::load, v, fmt::format("View in_{}", v));
    for (int v : group_.stores) argument(Argument::Kind::store, v, fmt::format("View out_{}", v));
    std::set<int> scalars;
    std::string checks;
    for (int n : group_.nodes) {
      const DeviceCode* code = nullptr;
      if (const auto* window = std::get_if<WindowOp>(&node(n).op)) {
        argument(Argument::Kind::edge, n, fmt::format("Edge<{}> edge_{}", type(node(n).inputs[0]), n));
        code = &window->device;
      } else if (const auto* pixel = std::get_if<PixelOp>(&node(n).op)) {
        code = &pixel->device;
      }
      if (!code) continue;
      include(*code);
      argument(Argument::Kind::op, n, fmt::format("{} op_{}", code->type, n));
      checks += fmt::format("static_assert(sizeof({}) == {}, \"operation {}\");\n", code->type, code->blob.size(), n);
      if (node(n).scalars && scalars.insert(*node(n).scalars).second)
        argument(Argument::Kind::scalars, *node(n).scalars, fmt::format("const void* scalars_{}", *node(n).scalars));
    }
    for (int r : group_.reduces)
      if (rides(r)) argument(Argument::Kind::extrema, r, fmt::format("u64* extrema_{}", r));
    args_ = extra_ + args_ + "};\n" + checks;
    includes_ = "#include \"filters/base/group.cuh\"\n";
    for (const std::string& header : headers_) includes_ += fmt::format("#include \"{}\"\n", header);
  }

  /// Resident blocks to ask for: what every window's code allows, as many threads at any size of a block.
  int resident(int blocks) const {
    for (int n : group_.nodes)
      if (const auto* window = std::get_if<WindowOp>(&node(n).op)) blocks = std::min(blocks, window->resident);
    return std::clamp(blocks * default_threads / kernel_.threads, 1, 16);
  }

  bool rides(int reduce) const { return std::get<ReduceOp>(node(reduce).op).kind == ReduceOp::Kind::extrema; }

  void line(const std::string& text) { body_ += std::string(2 * depth_, ' ') + text + "\n"; }
  void open(const std::string& text) {
    line(text + " {");
    ++depth_;
  }
  void close(const std::string& end = "}") {
    --depth_;
    line(end);
  }

  void body(const std::vector<std::int64_t>& offsets) {
    line("template <class Block>");
    open("IMGPIPE_FN void body(const Args& a, const Block& block, char* fast)");
    line("const Frame& f = a.frame;");
    line(in_memory_ ? "char* const memory = f.scratch + block.index() * f.scratch_bytes;"
                    : "char* const memory = fast;");
    line("Counter counter;");
    for (int r : group_.reduces)
      if (rides(r)) line(fmt::format("ExtremaCount<{}> extrema_{};", type(node(r).inputs[0]), r));
    for (int n : group_.nodes) operation(n);
    open("for (i64 t = block.index(); t < f.tiles; t += block.count())");
    if (kernel_.flat)
      line(fmt::format("const Origin o = row_origin<{}>(f, t);", kernel_.tile[0]));
    else
      line(fmt::format("const Origin o = tile_origin<{}, {}, {}>(f, t);", kernel_.tile[0], kernel_.tile[1],
                       kernel_.tile[2]));
    for (std::size_t i = 0; i < group_.tile_values.size(); ++i) tile(group_.tile_values[i], offsets[i]);
    for (std::size_t s = 0; s < group_.stages.size(); ++s) stage(static_cast<int>(s));
    if (!group_.tile_values.empty()) line("block.sync();");
    close();
    if (counts()) {
      line("block.add(f.counts, counter.clipped);");
      line("block.add(f.counts + 1, counter.nans);");
    }
    for (int r : group_.reduces)
      if (rides(r)) line(fmt::format("block.extrema(a.extrema_{0}, extrema_{0}.low, extrema_{0}.high);", r));
    line("(void)memory; (void)counter;");
    close();
  }

  bool counts() const {
    return std::any_of(group_.nodes.begin(), group_.nodes.end(), [&](int n) {
      const auto* cast = std::get_if<CastOp>(&node(n).op);
      return cast && !is_float(cast->to);
    });
  }

  void operation(int n) {
    if (std::holds_alternative<CastOp>(node(n).op)) return;
    if (!node(n).scalars) {
      line(fmt::format("const auto& op_{0} = a.op_{0};", n));
      return;
    }
    const int r = *node(n).scalars;
    line(fmt::format("auto op_{0} = a.op_{0};", n));
    open("");
    if (rides(r)) {
      line("double numbers[2];");
      line(fmt::format("read_extrema(static_cast<const u64*>(a.scalars_{}), numbers);", r));
      line(fmt::format("op_{}.bind(numbers);", n));
    } else {
      line(fmt::format("op_{}.bind(static_cast<const double*>(a.scalars_{}));", n, r));
    }
    close();
  }

  void tile(const TileValue& value, std::int64_t offset) {
    const TileShape s = tile_shape(group_, value);
    line(fmt::format("const Tile<{0}, {2}, {3}, {4}, {5}, {6}, {7}> t_{1}{{reinterpret_cast<{0}*>(memory + {8})}};",
                     type(value.value), value.value, s.left, s.top, s.front, s.pitch, s.rows, s.planes, offset));
  }

  void stage(int s) {
    const Stage& stage = group_.stages[s];
    if (s > 0) line("block.sync();");
    stage_ = s;
    registers_.clear();
    own_ = stage.region.empty();
    open("");
    if (stage.source == Stage::Source::window)
      window_stage(stage);
    else
      pixel_stage(stage);
    close();
  }

  // Loads and tile values that the first pass needs in registers.
  bool wanted_at_load(int v) const {
    const auto uses = [&](int n) { return std::count(node(n).inputs.begin(), node(n).inputs.end(), v) > 0; };
    const Stage& first = group_.stages[0];
    if (std::any_of(first.nodes.begin(), first.nodes.end(), uses) || kept(v)) return true;
    if (std::count(group_.stores.begin(), group_.stores.end(), v)) return true;
    return std::any_of(group_.reduces.begin(), group_.reduces.end(), [&](int r) { return rides(r) && uses(r); });
  }

  void pixel_stage(const Stage& stage) {
    per_channel_ = false;
    const int pack = group_.tile[0] > 0 ? 4 : flat_pack;
    Halo covered = stage.region;  // by whole packs
    covered.low[0] = (covered.low[0] + pack - 1) / pack * pack;
    covered.high[0] = (kernel_.tile[0] + covered.high[0] + pack - 1) / pack * pack - kernel_.tile[0];
    std::vector<int> loads;
    if (stage.source == Stage::Source::load)
      std::copy_if(group_.loads.begin(), group_.loads.end(), std::back_inserter(loads),
                   [&](int v) { return wanted_at_load(v); });
    line(fmt::format("using R = {};", region(stage.region, kernel_.tile)));
    line(fmt::format("const bool inner = o.inside<{}>();", region(covered, kernel_.tile)));
    use_of_packs(stage, loads);
    if (!loads.empty() && group_.tile[0] % 4 == 0 && group_.tile[0] > 0) {
      load_batches(stage, loads);
      close("} else");
    }
    open(fmt::format("for_packs<R, {}>(block, [&](auto p, int x, int y, int z)", pack));
    line("constexpr int N = decltype(p)::n;");
    std::string values;
    for (int v : loads) {
      registers_.erase(v);
      bring(v);
      values += fmt::format(", v_{}", v);
    }
    line(fmt::format("use(p, x, y, z{});", values));
    close("});");
  }

  /// What is done with a pack once its loads are in registers.
  void use_of_packs(const Stage& stage, const std::vector<int>& loads) {
    std::string values;
    for (int v : loads) values += fmt::format(", const auto& v_{}", v);
    open(fmt::format("const auto use = [&](auto p, int x, int y, int z{})", values));
    line("constexpr int N = decltype(p)::n;");
    registers_.insert(loads.begin(), loads.end());
    for (int v : loads) finish(v, stage);
    for (int n : stage.nodes) {
      evaluate(n);
      finish(n, stage);
    }
    line("(void)inner;");
    close("};");
  }

  /// Where all of the pass lies inside the image, several packs a thread are loaded before the first is used.
  void load_batches(const Stage& stage, const std::vector<int>& loads) {
    int registers = 0;  // of one pack
    std::string aligned, values;
    for (int v : loads) {
      registers += 4 * channels(v) * static_cast<int>(size_of(dtype_of(info(v).compute)) / 4);
      aligned += fmt::format(" && a.in_{}.quads", v);
      values += fmt::format(", b_{}[u]", v);
    }
    const auto length = [&](int a) { return kernel_.tile[a] + stage.region.low[a] + stage.region.high[a]; };
    const int step = std::max(1, kernel_.threads / ((length(0) + 3) / 4)), rows = length(1) * length(2);
    const int rounds = (rows + step - 1) / step;
    const int batches = (rounds + std::max(1, 16 / registers) - 1) / std::max(1, 16 / registers);
    const int together = std::max(1, (rounds + batches - 1) / batches);
    open(fmt::format("if (inner{})", aligned));
    for (int v : loads) line(fmt::format("{} b_{}[{}][{}][4];", type(v), v, together, channels(v)));
    open(fmt::format("for_batches<R, 4, {}>(block, [&](int u, int x, int y, int z)", together));
    for (int v : loads)
      for (int c = 0; c < channels(v); ++c)
        line(fmt::format("load_inner<{}, {}>(a.in_{}, o, x, y, z, {}, b_{}[u][{}]);", type(v), sample(v), v, c, v, c));
    close(fmt::format("}}, [&](int u, int x, int y, int z) {{ use(Pack<4, 0>{{4}}, x, y, z{}); }});", values));
  }

  void window_stage(const Stage& stage) {
    per_channel_ = true;
    const int n = stage.window;
    const auto& op = std::get<WindowOp>(node(n).op);
    const int input = node(n).inputs[0];
    const int count = channels(n);
    const int untouched = op.filters_alpha ? -1 : alpha(n);
    open("");
    line(fmt::format("using R = {};", region(stage.region, kernel_.tile)));
    line(fmt::format("using Need = {};", region(stage.region + op.halo, kernel_.tile)));
    if (!op.halo.empty()) {
      open("if (!o.inside<Need>())");
      open(fmt::format("for (int c = 0; c < {}; ++c)", count));
      if (untouched >= 0) line(fmt::format("if (c == {}) continue;", untouched));
      if (op.border == Border::wrap)
        line(fmt::format("refill_wrapped<Need, {}>(block, t_{}.channel(c), f, o, a.in_{}, c);", sample(input), input,
                         input));
      else
        line(fmt::format("refill<Need>(block, t_{}.channel(c), f, o, a.edge_{});", input, n));
      close();
      line("block.sync();");
      close();
    }
    open(fmt::format("for (int c = 0; c < {}; ++c)", count));
    open(fmt::format("const auto results = [&](auto p, int x, int y, int z, const auto& v_{})", n));
    line("constexpr int N = decltype(p)::n;");
    registers_.insert(n);
    finish(n, stage);
    for (int m : stage.nodes) {
      evaluate(m);
      finish(m, stage);
    }
    line("(void)x; (void)y; (void)z;");
    close("};");
    line(fmt::format("const auto sink = make_sink<{}>(results);", type(n)));
    const std::string call = fmt::format("(block, t_{}.channel(c), R{{}}, sink);", input);
    if (untouched >= 0) line(fmt::format("if (c == {}) {{ CopyThrough{{}}{} continue; }}", untouched, call));
    line(fmt::format("op_{}{}", n, call));
    close();
    close();
  }

  /// Declares v_<n> in registers from tile memory or from main memory.
  void bring(int v) {
    if (!registers_.insert(v).second) return;
    const TileValue* t = kept(v);
    const bool load = std::count(group_.loads.begin(), group_.loads.end(), v) > 0;
    const bool from_tile = t && t->first_stage < stage_ && t->last_stage >= stage_;
    declare(v);
    each_channel(v, [&](const std::string& c, const std::string& values) {
      if (from_tile)
        line(fmt::format("p.read(t_{}.channel({}), x, y, z, {});", v, c, values));
      else if (load)
        line(fmt::format("load_pack<{}, {}, {}>(p, a.in_{}, o, {}, x, y, z, {}, {});", type(v), sample(v),
                         !per_channel_ && kernel_.tile[0] % 4 == 0, v, per_channel_ ? "false" : "inner", c, values));
    });
  }

  void declare(int n) {
    if (per_channel_)
      line(fmt::format("{} v_{}[N];", type(n), n));
    else
      line(fmt::format("{} v_{}[{}][N];", type(n), n, channels(n)));
  }

  template <class F>
  void each_channel(int n, F&& f) {
    if (per_channel_) return f("c", fmt::format("v_{}", n));
    for (int c = 0; c < channels(n); ++c) f(std::to_string(c), fmt::format("v_{}[{}]", n, c));
  }

  void evaluate(int n) {
    for (int v : node(n).inputs) bring(v);
    registers_.insert(n);
    declare(n);
    if (const auto* cast = std::get_if<CastOp>(&node(n).op)) return evaluate_cast(n, *cast);
    const auto& op = std::get<PixelOp>(node(n).op);
    op.channelwise ? evaluate_channelwise(n, op) : evaluate_pixelwise(n, op);
  }

  std::string position(const PixelOp& op) const { return op.reads_position ? ", p.position(f, o, x, y, z, j)" : ""; }

  void evaluate_cast(int n, const CastOp& cast) {
    const int in = node(n).inputs[0];
    each_channel(n, [&](const std::string& c, const std::string& values) {
      const std::string from = per_channel_ ? fmt::format("v_{}", in) : fmt::format("v_{}[{}]", in, c);
      line(fmt::format("cast_pack<{}, {}>(p, o, x, y, z, {}, {}, counter);", c_name(cast.to), own_, from, values));
    });
  }

  void evaluate_channelwise(int n, const PixelOp& op) {
    each_channel(n, [&](const std::string& c, const std::string& values) {
      std::string list;
      std::string first;
      for (int v : node(n).inputs) {
        const std::string from = per_channel_ ? fmt::format("v_{}[j]", v) : fmt::format("v_{}[{}][j]", v, c);
        if (first.empty()) first = from;
        list += (list.empty() ? "" : ", ") + from;
      }
      std::string result = fmt::format("op_{}({}{})", n, list, position(op));
      const int untouched = alpha(n);
      if (!per_channel_ && c == std::to_string(untouched)) result = first;
      if (per_channel_ && untouched >= 0) result = fmt::format("c == {} ? {} : {}", untouched, first, result);
      line("IMGPIPE_UNROLL");
      line(fmt::format("for (int j = 0; j < N; ++j) {}[j] = {};", values, result));
    });
  }

  void evaluate_pixelwise(int n, const PixelOp& op) {
    line("IMGPIPE_UNROLL");
    open("for (int j = 0; j < N; ++j)");
    std::string list;
    for (std::size_t k = 0; k < node(n).inputs.size(); ++k) {
      const int v = node(n).inputs[k];
      std::string values;
      for (int c = 0; c < channels(v); ++c)
        values += (c ? ", " : "") + (per_channel_ ? fmt::format("v_{}[j]", v) : fmt::format("v_{}[{}][j]", v, c));
      line(fmt::format("const {} in_{}[{}] = {{{}}};", type(v), k, channels(v), values));
      list += fmt::format("in_{}, ", k);
    }
    line(fmt::format("{} out[{}];", type(n), channels(n)));
    line(fmt::format("op_{}({}out{});", n, list, position(op)));
    for (int c = 0; c < channels(n); ++c)
      line(per_channel_ ? fmt::format("v_{}[j] = out[0];", n) : fmt::format("v_{}[{}][j] = out[{}];", n, c, c));
    close();
  }

  /// A value is complete in registers: it goes to tile memory, to main memory and into reductions.
  void finish(int n, const Stage& stage) {
    const bool keep = std::count(stage.keeps.begin(), stage.keeps.end(), n) > 0;
    const bool store = std::count(group_.stores.begin(), group_.stores.end(), n) > 0;
    each_channel(n, [&](const std::string& c, const std::string& values) {
      if (keep) line(fmt::format("p.write(t_{}.channel({}), x, y, z, {});", n, c, values));
      if (store)
        line(fmt::format("store_pack<{}, {}>(p, a.out_{}, o, x, y, z, {}, {});", c_name(info(n).storage()), own_, n, c,
                         values));
      for (int r : group_.reduces)
        if (rides(r) && node(r).inputs[0] == n) reduce(r, n, c, values);
    });
  }

  void reduce(int r, int n, const std::string& c, const std::string& values) {
    if (!per_channel_ && c == std::to_string(alpha(n))) return;
    const std::string colour = per_channel_ && alpha(n) >= 0 ? fmt::format("c != {} && ", alpha(n)) : "";
    line("IMGPIPE_UNROLL");
    line(fmt::format("for (int j = 0; j < N; ++j) if ({}(p.template owns<{}>(o, x, y, z, j))) extrema_{}.add({}[j]);",
                     colour, own_, r, values));
  }

  const Graph& graph_;
  const Group& group_;
  KernelSource kernel_;
  std::string includes_, extra_, args_, body_;
  std::set<std::string> headers_, sources_;
  std::set<int> registers_;
  int depth_ = 0;
  int stage_ = 0;
  bool per_channel_ = false;
  bool own_ = false;  // the pass has no pixels beyond the tile's own
  bool in_memory_ = false;
};

}  // namespace

KernelSource generate(const Graph& graph, const Group& group, bool flat_images, int threads) {
  return Generator(graph, group, flat_images, threads).run();
}

}  // namespace imgpipe::cuda
