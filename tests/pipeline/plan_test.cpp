// What the planner decides: groups, why they end, halos and the kernels' limits.
#include "pipeline/plan/plan.h"

#include <gtest/gtest.h>

#include "pipeline/config/config.h"
#include "pipeline/plan/chain.h"
#include "tests/support/chain.h"

namespace imgpipe::test {
namespace {

Plan plan(const std::string& steps, const ImageDesc& desc, const Machine& machine = Machine::gpu()) {
  return plan_of(steps, desc, {desc}, machine);
}

ImageDesc image_2d(DType dtype = DType::u16) { return make_desc(dtype, {2048, 2048}); }

std::vector<std::string> labels(const Plan& p, const Group& group) {
  std::vector<std::string> list;
  for (int n : group.nodes) list.push_back(p.graph.nodes[n].label);
  return list;
}

TEST(Plan, PixelStepsAreOneGroupHoweverMany) {
  std::string steps;
  for (int k = 0; k < 20; ++k) steps += "- linear: {gain: 1.01, offset: 1}\n";
  for (const Machine& machine : {Machine::gpu(), Machine::cpu()})
    EXPECT_EQ(plan(steps, image_2d(), machine).groups.size(), 1u) << machine.name;
}

TEST(Plan, NeighbourhoodStepsFuseAndTheirHalosAddUp) {
  const Plan p = plan("- median: 1\n- gaussian: {sigma: 1, truncate: 3}\n- clamp: {low: 0, high: 9}\n", image_2d());
  ASSERT_EQ(p.groups.size(), 1u);
  EXPECT_EQ(p.groups[0].halo, Halo::uniform(4, false));
  EXPECT_EQ(p.groups[0].ends, "the chain ends");
  EXPECT_DOUBLE_EQ(p.groups[0].bytes, 2048.0 * 2048 * (2 + 2));
}

TEST(Plan, TheSampleChainIsTwoGroups) {
  const Config config = load_config(IMGPIPE_SOURCE_DIR "/data/pipelines/chain2d.yaml", {});
  const Plan p = make_plan(build_graph(config, make_desc(DType::u16, {8192, 8192}), {}), Machine::gpu());
  ASSERT_LE(p.groups.size(), 2u);
  EXPECT_EQ(p.groups[0].ends, "normalize needs numbers over the whole image");
  EXPECT_EQ(p.groups[0].reduces.size(), 1u);
}

TEST(Plan, WrapNeedsAFinishedImage) {
  const Plan p = plan("- gaussian: 1\n- box: {radius: 1, border: wrap}\n", image_2d());
  ASSERT_GE(p.groups.size(), 2u);
  EXPECT_NE(p.groups[0].ends.find("border wrap of box needs the far side"), std::string::npos) << p.groups[0].ends;
}

TEST(Plan, WrapOnTheInputItselfNeedsNoCut) {
  EXPECT_EQ(plan("- erode: {radius: 1, footprint: ball, border: wrap}\n- invert\n", image_2d()).groups.size(), 1u);
}

TEST(Plan, MirrorsMakeTheHaloOfAnUnevenWindowSymmetric) {
  for (const auto& [border, high] : {std::pair("reflect101", 2), std::pair("reflect", 2), std::pair("replicate", 1)}) {
    const Plan p = plan(std::string("- convolve: {kernel: [1, 2, 3, 4], border: ") + border + "}\n", image_2d());
    EXPECT_EQ(p.groups[0].halo, (Halo{{2, 0, 0}, {high, 0, 0}})) << border;
  }
}

TEST(Plan, WhatNothingReadsIsNotComputed) {
  const Plan p = plan("- median: 5\n- gaussian: 2\n  from: input\n", image_2d());
  for (const Group& group : p.groups)
    for (const std::string& label : labels(p, group)) EXPECT_NE(label, "median");
}

TEST(Plan, AGroupEndsWhereTheParametersOfItsKernelAreFull) {
  std::string row, steps;
  for (int k = 0; k < 1001; ++k) row += (k ? ", 1" : "1");
  for (int k = 0; k < 6; ++k) steps += "- convolve: {kernel: [" + row + "], normalize: true}\n";
  const ImageDesc desc = make_desc(DType::f64, {4096, 64});
  for (bool fuse : {true, false}) {
    const Plan p = plan_of(steps, desc, {}, Machine::gpu(), {fuse, {}});
    for (const Group& group : p.groups) {
      std::size_t bytes = 0;
      for (int n : group.nodes)
        if (const auto* window = std::get_if<WindowOp>(&p.graph.nodes[n].op)) bytes += window->device.blob.size();
      EXPECT_LE(bytes, 32764u);
    }
  }
}

TEST(Plan, UnfusedRunsEveryOperationAlone) {
  const Plan p = plan_of("- median: 1\n- linear: 2\n- invert\n", image_2d(), {}, Machine::gpu(), {false, {}});
  for (const Group& group : p.groups) EXPECT_EQ(group.nodes.size(), 1u);
  EXPECT_GE(p.groups.size(), 3u);
}

TEST(Plan, NoStepsIsACopy) {
  const Plan p = plan("", image_2d());
  ASSERT_EQ(p.groups.size(), 1u);
  EXPECT_TRUE(p.groups[0].nodes.empty());
  EXPECT_EQ(p.groups[0].loads, p.groups[0].stores);
}

}  // namespace
}  // namespace imgpipe::test
