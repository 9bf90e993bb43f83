#include "wavegate/lowering/choose.h"
#include "lowering/chunk_guards.h"

#include <limits>

#include "lowering/support.h"
#include "wavegate/lowering/regions.h"

namespace wavegate::lowering {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

/// Programs over one buffer and one predicate, and what is decided for them. Nothing can be resident unless a test says
/// so.
struct Sample {
  Program program{"choose"};
  Buffer data = program.buffer("data", Type::i32, 1 << 16, Initial::zero());
  Scalar flag = program.scalar_u32("flag", 1);
  target::Profile device = profile();
  Options options;
  ResidentFit resident = {"it is not to be", 0};

  void work(program::Grid grid = {4, 1, 1}) { touch(program, data, grid); }
  void loop(program::Bounds bounds, const std::function<void()>& body, const std::string& label = "loop") {
    program.while_(flag, bounds, body, label);
  }
  Result<Decisions> all() const {
    return choose(program, device, options, [&](const program::While&) { return resident; });
  }
  /// Of the region of this label.
  Decision of(const std::string& label) const {
    const Decisions decisions = value_of(all());
    std::optional<Decision> found;
    const std::function<void(const program::Body&)> search = [&](const program::Body& body) {
      for (const program::Node& node : body) {
        const Region region = region_of(node);
        if (region.address != nullptr && *region.label == label) found = decisions.at(region.address);
        for (const program::Body* inner : bodies_of(node)) search(*inner);
      }
    };
    search(program.body());
    if (!found) throw std::runtime_error("no region " + label);
    return *found;
  }
  Error refused() const {
    const auto decisions = all();
    if (decisions.ok()) throw std::runtime_error("nothing is refused");
    return decisions.error();
  }
};

TEST(Choose, WhatIsAskedForIsTakenForEveryRegionThatItAppliesTo) {
  for (const StrategyInfo& row : strategies()) {
    Sample s;
    s.resident = {"", UINT32_MAX};
    s.options.strategy = row.strategy;
    s.loop({.min = 2, .max = 2}, [&] {
      s.program.if_(
          s.flag, [&] { s.work(); }, {}, "branch");
      s.work({1, 1, 1});
    });
    EXPECT_EQ(s.of("loop").strategy, row.strategy) << row.name;
    EXPECT_TRUE(s.of("loop").forced);
    EXPECT_THAT(s.of("loop").reason, EndsWith("asked for"));
    if (row.strategy == Strategy::resident) continue;
    // Conditional rendering does not nest.
    EXPECT_EQ(s.of("branch").forced, row.for_branches && row.strategy != Strategy::predication) << row.name;
    EXPECT_TRUE(info(s.of("branch").strategy).for_branches) << row.name;
  }
}

TEST(Choose, ARegionsOwnStrategyComesBeforeThatOfAll) {
  Sample s;
  s.options.strategy = Strategy::gate;
  s.options.region_strategies["inner"] = Strategy::early_out;
  s.loop({.max = 4}, [&] {
    s.program.if_(
        s.flag, [&] { s.work(); }, {}, "inner");
  });
  EXPECT_EQ(s.of("loop").strategy, Strategy::gate);
  EXPECT_EQ(s.of("inner").strategy, Strategy::early_out);
}

TEST(Choose, AnUnknownRegionIsInvalidInput) {
  Sample s;
  s.options.region_strategies["lop"] = Strategy::gate;
  s.loop({.max = 4}, [&] { s.work(); });
  EXPECT_EQ(s.refused().kind, ErrorKind::invalid_input);
  EXPECT_THAT(s.refused().message, HasSubstr("\"lop\""));
}

TEST(Choose, ARegionInsideAResidentLoopIsKnownAndPartOfItsKernel) {
  Sample s;
  s.resident = {"", UINT32_MAX};
  s.options.region_strategies = {{"loop", Strategy::resident}};
  s.loop({.max = 4}, [&] {
    s.program.if_(
        s.flag, [&] { s.work(); }, {}, "inner");
  });
  EXPECT_EQ(s.of("inner").strategy, Strategy::resident);
  EXPECT_EQ(s.of("inner").reason, "inside a resident loop");
}

/// What cannot be, and the reason that is given.
struct Refusal {
  Strategy strategy;
  const char* reason;
  std::function<void(Sample&)> build;
};

TEST(Choose, AStrategyThatDoesNotApplyIsRefusedByNameWithTheReason) {
  const auto bounded = [](Sample& s) { s.loop({.max = 4}, [&] { s.work(); }); };
  const auto unbounded = [](Sample& s) { s.loop({}, [&] { s.work(); }); };
  const std::vector<Refusal> refusals = {
      {Strategy::gate, "it has no max", unbounded},
      {Strategy::fused_gate, "it has no max", unbounded},
      {Strategy::chained_gate, "it has no max", unbounded},
      {Strategy::producer, "it has no max", unbounded},
      {Strategy::early_out, "it has no max", unbounded},
      {Strategy::predication, "it has no max", unbounded},
      {Strategy::unroll, "min and max differ", unbounded},
      {Strategy::fused_gate, "it holds a loop without max",
       [](Sample& s) {
         s.loop({.max = 2}, [&] {
           s.loop(
               {}, [&] { s.work(); }, "inner");
         });
       }},
      {Strategy::producer, "does not end with a kernel of ours of one workgroup", bounded},
      {Strategy::producer, "does not end with a kernel of ours of one workgroup",
       [](Sample& s) { s.loop({.max = 4}, [&] { s.program.fill(s.data, literal(0u)); }); }},
      {Strategy::producer, "its body may be left early",
       [](Sample& s) {
         s.loop({.max = 4}, [&] {
           s.program.if_(s.flag, [&] { s.program.break_(); });
           s.work({1, 1, 1});
         });
       }},
      {Strategy::predication, "the device has no conditional rendering",
       [&](Sample& s) {
         s.device.features.conditional_rendering = false;
         bounded(s);
       }},
      {Strategy::chunked, "host-free is asked for",
       [&](Sample& s) {
         s.options.host_free = true;
         bounded(s);
       }},
      {Strategy::unroll, "min and max differ", bounded},
      {Strategy::resident, "it is not to be", bounded},
  };
  for (const Refusal& refusal : refusals) {
    Sample s;
    s.options.region_strategies["loop"] = refusal.strategy;
    refusal.build(s);
    const Error error = s.refused();
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
    EXPECT_THAT(error.message,
                AllOf(HasSubstr("while \"loop\""), HasSubstr(to_string(refusal.strategy)), HasSubstr(refusal.reason)));
  }
}

TEST(Choose, ALoopInsideASpelledOneCannotBeChunked) {
  Sample s;
  s.options.region_strategies = {{"loop", Strategy::gate}, {"inner", Strategy::chunked}};
  s.loop({.max = 2}, [&] {
    s.loop(
        {.max = 2}, [&] { s.work(); }, "inner");
  });
  EXPECT_THAT(s.refused().message, AllOf(HasSubstr("while \"inner\""), HasSubstr("a loop around it is spelled out")));
}

TEST(Choose, AStrategyOfLoopsIsRefusedForABranchThatIsNamed) {
  Sample s;
  s.options.region_strategies["branch"] = Strategy::chunked;
  s.program.if_(
      s.flag, [&] { s.work(); }, {}, "branch");
  EXPECT_THAT(s.refused().message,
              AllOf(HasSubstr("if \"branch\""), HasSubstr("chunked"), HasSubstr("it is for loops")));
}

TEST(Choose, ABodyEndsWithItsLastKernelAlsoBeforeScalarWork) {
  Sample s;
  s.options.strategy = Strategy::producer;
  const Scalar n = s.program.scalar_u32("n", 0);
  s.loop({.max = 4}, [&] {
    s.work({1, 1, 1});
    s.program.assign(n, n + 1);
    s.program.record(n);
  });
  EXPECT_EQ(s.of("loop").strategy, Strategy::producer);
}

TEST(Choose, HostFreeRefusesAnUnboundedLoopByNameAndSaysWhatItTried) {
  Sample s;
  s.options.host_free = true;
  s.loop(
      {}, [&] { s.work(); }, "endless");
  const Error error = s.refused();
  EXPECT_EQ(error.kind, ErrorKind::unsupported);
  EXPECT_THAT(error.message,
              AllOf(HasSubstr("while \"endless\""), HasSubstr("no strategy applies"), HasSubstr("host-free"),
                    HasSubstr("gate: it has no max"), HasSubstr("resident: it has no max")));
}

TEST(Choose, AnUnboundedLoopIsResidentOnlyWhereTheHostMayEndIt) {
  Sample s;
  s.resident = {"", UINT32_MAX};
  s.options.strategy = Strategy::resident;
  s.loop({}, [&] { s.work(); });
  EXPECT_EQ(s.of("loop").strategy, Strategy::resident);
  EXPECT_GT(s.of("loop").iterations_a_dispatch, 0u);
  s.options.host_free = true;
  EXPECT_THAT(s.refused().message, AllOf(HasSubstr("while \"loop\""), HasSubstr("the host would have to end it")));

  Sample inner;
  inner.resident = {"", UINT32_MAX};
  inner.options.region_strategies = {{"loop", Strategy::resident}};
  inner.loop({.max = 4}, [&] {
    inner.loop(
        {}, [&] { inner.work(); }, "open");
  });
  EXPECT_THAT(inner.refused().message, HasSubstr("it holds a loop without max"));
}

// To answer is to build the kernel of the whole nest, which for a deep one takes seconds.
TEST(Choose, WhetherALoopCanBeResidentIsAskedOnlyWhereItDecides) {
  Sample s;
  const std::function<void(int)> nest = [&](int depth) {
    if (depth == 0) return s.work();
    s.loop({.max = 3}, [&] { nest(depth - 1); });
  };
  nest(20);
  const auto times_asked = [&](const Options& options) {
    int asked = 0;
    EXPECT_TRUE(choose(s.program, s.device, options, [&](const program::While&) {
                  ++asked;
                  return ResidentFit{"", UINT32_MAX};
                }).ok());
    return asked;
  };
  EXPECT_EQ(times_asked(forced(Strategy::fused_gate)), 0);
  EXPECT_EQ(times_asked(forced(Strategy::resident)), 1);
  // By default it decides where it would be the cheapest.
  Options cheap, dear;
  cheap.costs = target::Costs{.resident_step = 0, .resident_invocation = 0};
  dear.costs = target::Costs{.resident_step = 1e6};
  EXPECT_EQ(times_asked(cheap), 1);
  EXPECT_EQ(times_asked(dear), 0);
}

TEST(Choose, AResidentLoopIsInPartsWhereAKernelWouldTakeLongOrTheDriverEndsIt) {
  const auto iterations = [](uint32_t max, double step, uint32_t allowed) {
    Sample s;
    s.resident = {"", UINT32_MAX};
    s.options.strategy = Strategy::resident;
    s.options.costs = target::Costs{.resident_step = step, .resident_invocation = 0};
    s.resident.iterations = allowed;
    s.loop({.max = max}, [&] { s.work({1, 1, 1}); });
    return s.of("loop").iterations_a_dispatch;
  };
  EXPECT_EQ(iterations(100, 1, UINT32_MAX), 0u);  // all in one
  const uint32_t slow = iterations(100, 1000, UINT32_MAX);
  EXPECT_GT(slow, 0u);
  EXPECT_LT(slow, 100u);
  EXPECT_EQ(iterations(100, 1e9, UINT32_MAX), 1u);
  EXPECT_EQ(iterations(100, 1, 20), 20u);
}

TEST(Choose, WithoutAskingTheCheapestIsTakenAndTheNextIsNamed) {
  Sample s;
  s.options.costs = target::Costs();
  s.loop({.max = 1000}, [&] { s.work(); });
  EXPECT_EQ(s.of("loop").strategy, Strategy::chunked);
  EXPECT_THAT(s.of("loop").reason, AllOf(HasSubstr("cheapest of"), HasSubstr("default costs"), HasSubstr("times as")));
  // Where an iteration after the last costs nothing, nothing is gained by looking whether there are any.
  s.options.costs->submission = 1e6;
  s.options.costs->conditional_off = 0;
  s.options.costs->measured = true;
  EXPECT_NE(s.of("loop").strategy, Strategy::chunked);
  EXPECT_THAT(s.of("loop").reason, HasSubstr("measured costs"));
}

TEST(Choose, ALoopOfAKnownCountIsUnrolled) {
  Sample s;
  s.options.costs = target::Costs();
  s.loop({.min = 10, .max = 10}, [&] { s.work(); });
  EXPECT_EQ(s.of("loop").strategy, Strategy::unroll);
}

TEST(Choose, ALoopOfMoreIterationsThanAreSpelledOutGladlyIsChunked) {
  Sample s;
  s.options.costs = target::Costs();
  s.loop({.min = 1u << 20, .max = 1u << 20}, [&] { s.work(); });
  EXPECT_EQ(s.of("loop").strategy, Strategy::chunked);
}

TEST(Choose, CostsOfTheDeviceDecideOnceAnIterationIsLarge) {
  Sample s;
  s.resident = {"", UINT32_MAX};
  s.options.costs = target::Costs();
  s.loop(
      {.max = 1000},
      [&] {
        s.work({1, 1, 1});
      },
      "small");
  s.loop(
      {.max = 1000},
      [&] {
        s.work({1024, 1, 1});
      },
      "large");
  EXPECT_EQ(s.of("small").strategy, Strategy::resident);
  EXPECT_NE(s.of("large").strategy, Strategy::resident);
}

TEST(Choose, AChunkTakesSomeSubmissionsTimeWithinBounds) {
  const auto chunks = [](double submission, double dispatch) {
    Sample s;
    s.options.strategy = Strategy::chunked;
    s.options.costs = target::Costs{
        .dispatch = dispatch, .scalar_step = 0, .workgroup_latch = 0, .workgroup_out = 0, .submission = submission};
    s.loop({}, [&] { s.work(); });
    const Decision decision = s.of("loop");
    return std::pair(decision.first_chunk, decision.usual_chunk);
  };
  const auto [first, largest] = chunks(10, 1);
  EXPECT_GT(first, 10u);  // the host has time to look and to submit the next
  EXPECT_GT(largest, first);
  EXPECT_EQ(chunks(20, 1), std::pair(2 * first, 2 * largest));
  EXPECT_EQ(chunks(20, 2), std::pair(first, largest));
  EXPECT_EQ(chunks(1, 1000), std::pair(2u, 2u));
  EXPECT_EQ(chunks(1e6, 1), std::pair(4096u, 4096u));
}

TEST(Choose, WhereLatchesCostAWorkgroupMuchGatesAreTaken) {
  Sample s;
  s.options.costs = target::Costs{.dispatch = 17, .scalar_step = 16, .indirect = 30, .indirect_empty = 25};
  s.options.host_free = true;
  s.device.features.conditional_rendering = false;
  s.loop({.max = 200}, [&] { s.work({256, 1, 1}), s.work({256, 1, 1}); });
  s.options.costs->workgroup_latch = 0;
  EXPECT_EQ(s.of("loop").strategy, Strategy::early_out);
  s.options.costs->workgroup_latch = 0.4;
  EXPECT_TRUE(s.of("loop").strategy == Strategy::fused_gate || s.of("loop").strategy == Strategy::chained_gate);
}

TEST(Choose, ThePartsOfAResidentLoopAreSpelledOutWhereTheyCostLessThanALook) {
  const auto looks = [](uint32_t max, double idle) {
    Sample s;
    s.resident = {"", UINT32_MAX};
    s.options.strategy = Strategy::resident;
    s.options.costs = target::Costs{
        .resident_step = 1, .resident_invocation = 0, .resident_idle = idle, .submission = 10, .round_trip = 40};
    s.loop({.max = max}, [&] { s.work({1, 1, 1}); });
    return s.of("loop").host_looks;
  };
  EXPECT_FALSE(looks(20'000, 1));    // two of 20 ms
  EXPECT_TRUE(looks(1'000'000, 1));  // 100 of them, for 40 us
  EXPECT_TRUE(looks(100'000, 100));
}

TEST(Choose, WhereLatchesCostAWorkgroupMuchChunksAreGated) {
  Sample s;
  s.options.costs = target::Costs{.dispatch = 17, .scalar_step = 16, .indirect = 19, .indirect_empty = 8};
  s.device.features.conditional_rendering = false;
  s.options.strategy = Strategy::chunked;
  s.loop({}, [&] { s.work({256, 1, 1}), s.work({256, 1, 1}); });
  s.options.costs->workgroup_latch = 0;
  EXPECT_EQ(s.of("loop").guard, Strategy::early_out);
  s.options.costs->workgroup_latch = 0.4;
  EXPECT_EQ(s.of("loop").guard, Strategy::fused_gate);
  s.options.costs->scalar_step = 40;  // more than a gate's, so that the step is gated, too
  EXPECT_EQ(s.of("loop").guard, Strategy::chained_gate);
  s.device.features.checks_indirect = true;
  EXPECT_EQ(s.of("loop").guard, Strategy::early_out);
}

TEST(Choose, AFarBoundIsNotPaidForWhereChunksCostAlmostTheSame) {
  Sample s;
  s.options.costs = target::Costs{.dispatch = 20, .scalar_step = 20, .indirect = 20, .indirect_empty = 2.5};
  s.options.costs->workgroup_latch = 0.1;
  s.options.costs->submission = 20;
  s.device.features.conditional_rendering = false;
  s.loop({.max = 20'000}, [&] { s.work({256, 1, 1}); });
  EXPECT_EQ(s.of("loop").strategy, Strategy::chunked);
}

TEST(Choose, WhereTheApiChecksIndirectDispatchesNoneIsThereByDefault) {
  for (const uint32_t workgroups : {1u, 256u, 16384u})
    for (const bool opaque : {false, true}) {
      Sample s;
      s.device.backend = "webgpu";
      s.device.is_cpu = true;
      s.device.features.checks_indirect = true;
      s.device.features.conditional_rendering = false;
      s.options.costs = target::Costs::of_cpu();  // by which gates are cheap
      const auto work = [&] {
        s.program.dispatch({.label = "work",
                            .kernel = opaque ? opaque_kernel() : touch_kernel(),
                            .bindings = {s.data},
                            .grid = program::Grid{workgroups, 1, 1}});
      };
      const auto loop = [&](program::Bounds bounds, const std::string& label) {
        s.loop(
            bounds,
            [&] {
              work(), work();
              s.program.if_(s.flag, work, {}, label + " branch");
            },
            label);
      };
      loop({.max = 1000}, "bounded");
      loop({}, "open");
      loop({.min = 3, .max = 50}, "short");
      for (const char* label : {"bounded", "open", "short", "bounded branch", "open branch", "short branch"}) {
        const Strategy strategy = s.of(label).strategy;
        EXPECT_TRUE(strategy == Strategy::early_out || strategy == Strategy::chunked)
            << label << ", " << workgroups << " workgroups: " << to_string(strategy);
        EXPECT_EQ(s.of(label).guard, Strategy::early_out) << label << ", " << workgroups;
      }
    }
}

TEST(Choose, WhereTheApiChecksIndirectDispatchesOnlyManyWorkgroupsAreWorthOne) {
  Sample s;
  s.device.features.checks_indirect = true;
  s.device.features.conditional_rendering = false;
  s.options.costs = target::Costs::of_cpu();
  s.loop({.max = 100}, [&] { s.work({16385, 1, 1}); });
  EXPECT_TRUE(info(s.of("loop").strategy).indirect) << to_string(s.of("loop").strategy);
}

TEST(Choose, WhatAWorkgroupsLaunchCostsSpeaksForResidency) {
  // As measured in headless Chromium, whose latches cost much as well.
  const target::Costs costs = {.dispatch = 16.8,
                               .scalar_step = 13.7,
                               .indirect = 44,
                               .indirect_empty = 32,
                               .workgroup_latch = 0.24,
                               .workgroup_out = 0.8,
                               .resident_step = 4.1,
                               .resident_invocation = 0.008,
                               .submission = 594,
                               .round_trip = 600};
  for (const std::optional<uint32_t> max : {std::optional(1001u), std::optional(100'000u), std::optional<uint32_t>()})
    for (const double launch : {0.8, 0.0}) {
      Sample s;
      s.resident = {"", UINT32_MAX};
      s.device.features.checks_indirect = true;
      s.device.features.conditional_rendering = false;
      s.options.costs = costs;
      s.options.costs->workgroup_out = launch;
      s.loop({.max = max}, [&] { s.work({256, 1, 1}), s.work({256, 1, 1}), s.work({256, 1, 1}), s.work({256, 1, 1}); });
      EXPECT_EQ(s.of("loop").strategy == Strategy::resident, launch > 0);
    }
}

TEST(Choose, ABlockUnderConditionalRenderingBalancesItsStepAndWhatIsWasted) {
  const auto block = [](Strategy strategy, target::Costs costs) {
    Sample s;
    s.options.strategy = strategy;
    costs.submission = 1e6;
    s.options.costs = costs;
    s.loop({.max = 3200}, [&] { s.work(); });
    return s.of("loop").block;
  };
  const target::Costs costs = {.dispatch = 7,
                               .scalar_step = 1,
                               .indirect = 100,
                               .workgroup_latch = 0,
                               .workgroup_out = 0,
                               .conditional_begin = 1,
                               .conditional_on = 0,
                               .conditional_off = 0.001};
  EXPECT_EQ(block(Strategy::predication, costs), 28u);  // sqrt(2 * 3200 * 1 / 8)
  EXPECT_EQ(block(Strategy::chunked, costs), 20u);      // 1600 are expected
  target::Costs dear = costs;
  dear.conditional_on = 5;
  EXPECT_EQ(block(Strategy::chunked, dear), 0u);
  EXPECT_EQ(block(Strategy::early_out, costs), 0u);
}

TEST(Choose, ConditionalRenderingDoesNotNestWhicheverLoopHasIt) {
  for (const Strategy outer : {Strategy::chunked, Strategy::predication}) {
    Sample s;
    s.options.strategy = outer;
    s.options.costs = lowering::chunk_guards({})[0].second;
    s.loop({.max = 3200}, [&] {
      s.program.if_(
          s.flag, [&] { s.work(); }, {}, "branch");
    });
    EXPECT_NE(s.of("branch").strategy, Strategy::predication) << to_string(outer);
    s.options.region_strategies["branch"] = Strategy::predication;
    if (outer == Strategy::chunked)
      EXPECT_EQ(s.of("loop").block, 0u);  // which it gives up for the branch
    else
      EXPECT_THAT(s.refused().to_string(),
                  HasSubstr("\"loop\": the predication strategy does not apply: predication is asked for inside it"));
  }
}

TEST(Choose, ALoopMakesRoomForThePredicationThatIsAskedForInsideIt) {
  Sample s;
  s.options.host_free = true;
  s.options.costs = lowering::chunk_guards({})[0].second;  // by which predication is the cheapest
  s.loop({.max = 3200}, [&] {
    s.program.if_(
        s.flag, [&] { s.work(); }, {}, "branch");
  });
  EXPECT_EQ(s.of("loop").strategy, Strategy::predication);
  s.options.region_strategies["branch"] = Strategy::predication;
  EXPECT_NE(s.of("loop").strategy, Strategy::predication);
  EXPECT_EQ(s.of("branch").strategy, Strategy::predication);
}

TEST(Choose, WhatAnApiChecksIsNamedAsTheReasonToAvoidIt) {
  Sample s;
  s.device.features.checks_indirect = true;
  s.device.features.conditional_rendering = false;
  s.program.if_(
      s.flag, [&] { s.work(); }, {}, "branch");
  EXPECT_THAT(s.of("branch").reason, AllOf(HasSubstr("avoided"), HasSubstr("checks an indirect dispatch")));
}

TEST(Choose, HowTheIterationsOfChunksAreConditionedIsTold) {
  for (const auto& [name, costs] : lowering::chunk_guards({})) {
    Sample s;
    s.options.strategy = Strategy::chunked;
    s.options.costs = costs;
    s.loop({}, [&] { s.work(); });
    const char* how = name == "chunked, in blocks" ? "under conditional rendering; "
                      : name == "chunked, gated"   ? "fused-gate iterations; "
                                                   : "chained-gate iterations; ";
    EXPECT_THAT(s.of("loop").reason, AllOf(HasSubstr(how), HasSubstr("asked for")));
  }
}

TEST(Choose, ALoopInsideAChunkedOneGoesOnInLaterPassesUnlessItIsShort) {
  Sample s;
  s.options.strategy = Strategy::chunked;
  s.loop({}, [&] {
    s.loop(
        {}, [&] { s.work(); }, "open");
    s.loop(
        {.max = 1000}, [&] { s.work(); }, "long");
    s.loop(
        {.max = 8}, [&] { s.work(); }, "short");
  });
  EXPECT_EQ(s.of("loop").iterations_a_pass, 0u);
  EXPECT_EQ(s.of("open").iterations_a_pass, 8u);
  EXPECT_EQ(s.of("long").iterations_a_pass, 8u);
  EXPECT_EQ(s.of("short").iterations_a_pass, 0u);
}

TEST(Choose, AnUnboundedLoopInABranchIsChunkedToo) {
  Sample s;
  s.program.if_(s.flag, [&] { s.loop({}, [&] { s.work(); }); });
  EXPECT_EQ(s.of("loop").strategy, Strategy::chunked);
  EXPECT_EQ(s.of("loop").iterations_a_pass, 0u);
}

TEST(Choose, ABranchIsEstimatedTakenAndNotTaken) {
  Sample s;
  s.options.strategy = Strategy::fused_gate;
  s.options.costs = target::Costs{.scalar_step = 1, .indirect = 10, .indirect_empty = 3, .workgroup_out = 0};
  s.program.if_(
      s.flag, [&] { s.work(), s.work(); }, {}, "branch");
  EXPECT_DOUBLE_EQ(s.of("branch").microseconds - s.of("branch").dead_microseconds, 2 * 10 - 2 * 3);
}

}  // namespace
}  // namespace wavegate::lowering
