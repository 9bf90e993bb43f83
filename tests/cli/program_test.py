"""Tests of the commands that take a program: run, explain, calibrate. cli_test.py runs them."""

import json

from command_testing import CommandTest, OPEN_LOOP, PROGRAM, STRATEGIES, for_each_device, npy, npy_values, run

RUN_KEYS = ["device", "program", "loops", "scalars", "seconds", "device_seconds", "submissions", "host_waits",
            "readbacks", "observations"]


class RunTest(CommandTest):
    @for_each_device
    def test_json_has_exactly_these_members(self, device):
        report = json.loads(self.succeed("run", self.write_program(), "--json", "--device", device))
        self.assertEqual(list(report), RUN_KEYS)
        self.assertEqual(report["program"], "doubling")
        self.assertEqual(report["loops"], [{"label": "add", "trips": 3, "exit_reason": "converged"}])
        self.assertEqual(report["scalars"], {"count": 3, "going": 0, "a": 2.0, "rounds": 3})
        self.assertEqual(report["host_waits"], 1)

    @for_each_device
    def test_inputs_settings_and_outputs_reach_the_program(self, device):
        x = self.write("x.npy", npy("f", range(8)))
        self.succeed("run", self.write_program(), "--in", f"x={x}", "--set", "a=-0.5", "--set", "rounds=2", "--out",
                     f"y={self.folder / 'y.npy'}", "--out", f"x={self.folder / 'x2.npy'}", "--device", device)
        self.assertEqual(npy_values(self.folder / "y.npy"), ("<f4", [-float(i) for i in range(8)]))
        self.assertEqual(npy_values(self.folder / "x2.npy"), ("<f4", [float(i) for i in range(8)]))

    @for_each_device
    def test_outputs_cost_no_further_wait(self, device):
        report = json.loads(self.succeed("run", self.write_program(), "--out", f"y={self.folder / 'y.npy'}", "--json",
                                         "--host-free", "--device", device))
        self.assertEqual((report["submissions"], report["host_waits"], report["observations"]), (1, 1, 0))

    def test_a_loop_that_reaches_its_maximum_reports_the_bound(self):
        text = self.succeed("run", self.write_program(), "--set", "rounds=9", "--device", "reference")
        self.assertRegex(text, r"(?m)^add +5  bound$")
        self.assertRegex(text, r"(?m)^count +5$")

    def test_scalars_that_are_no_number_become_null(self):
        program = self.write_program(scalars={**PROGRAM["scalars"], "z": {"type": "float32", "initial": 0}}, run=[
            {"assign": "z", "value": ["/", "z", "z"]}])
        report = json.loads(self.succeed("run", program, "--json", "--device", "reference"), parse_constant=self.fail)
        self.assertIsNone(report["scalars"]["z"])

    def test_a_dry_run_opens_no_device_and_writes_nothing(self):
        text = self.succeed("run", self.write_program(), "--dry-run", "--device", "no such device", "--out",
                            f"y={self.folder / 'y.npy'}")
        self.assertIn("nothing was run", text)
        self.assertFalse((self.folder / "y.npy").exists())

    def test_a_dry_run_finds_a_mistake(self):
        program = self.write_program(run=[{"operation": "madd", "operands": ["a", "x", "y"]}])
        self.fail_with("run", program, "--dry-run", saying="madd")

    def test_a_mistake_that_is_found_after_parsing_names_the_file(self):
        buffers = {**PROGRAM["buffers"], "half": {"type": "f16", "count": 9, "initial": 0}}
        program = self.write_program(buffers=buffers, run=[
            {"copy": {"from": "half", "to": "half", "from_offset": 1, "to_offset": 4, "count": 2}}])
        for command in (["run"], ["run", "--dry-run"], ["explain"]):
            text = self.fail_with(*command, program, saying='elements 1 to 3 of buffer "half" (f16)')
            self.assertIn(str(program), text)

    def test_a_failed_run_writes_no_output(self):
        body = ["kernel outside {", "  workgroup_size 1 1 1", "  buffer data f32 write", "  %i: i32 = constant 100",
                "  %v: f32 = constant 1", "  store data[%i], %v", "}"]
        program = self.write_program(kernels={"outside": {"kir": body}}, run=[
            {"dispatch": "outside", "bindings": ["y"], "grid": [1]}])
        self.fail_with("run", program, "--out", f"y={self.folder / 'y.npy'}", "--device", "reference",
                       saying='kernel "outside"')

    def test_what_does_not_fit_the_device_is_refused_with_its_limit(self):
        program = self.write_program(buffers={**PROGRAM["buffers"], "huge": {"type": "f32", "count": 1 << 40}},
                                     run=[{"fill": "huge", "value": 1}])
        self.fail_with("run", program, "--device", "reference", saying="huge")


class StrategyTest(CommandTest):
    @for_each_device
    def test_every_strategy_leaves_the_same(self, device):
        program = self.write_program()
        for strategy in STRATEGIES:
            with self.subTest(strategy):
                out = self.folder / "y.npy"
                arguments = ("run", program, "--strategy", strategy, "--out", f"y={out}", "--json", "--device", device)
                # A driver may end the loops of long kernels, and then a resident loop of those is none.
                if strategy == "unroll" or (strategy == "resident" and run(*arguments).returncode != 0):
                    self.fail_with(*arguments, saying=f'while "add": the {strategy} strategy does not apply')
                    continue
                report = json.loads(self.succeed(*arguments))
                self.assertEqual(report["loops"], [{"label": "add", "trips": 3, "exit_reason": "converged"}])
                self.assertEqual(report["host_waits"], 1)
                self.assertEqual(npy_values(out), ("<f4", [6.0] * 8))
                out.unlink()

    def test_a_region_has_its_own(self):
        program = self.write_program()
        text = self.succeed("explain", program, "--strategy", "gate", "--strategy", "add=early-out")
        self.assertRegex(text, r'(?m)^while "add" +early-out +\S+ +\S+ +asked for$')

    def test_an_unknown_region_is_named(self):
        self.fail_with("run", self.write_program(), "--strategy", "ad=gate", "--device", "reference", saying='"ad"')

    def test_wrong_strategies_are_usage_errors(self):
        program = self.write_program()
        for command in (["run", program], ["explain", program], ["solve", self.matrix]):
            for arguments, saying in ((["early-outs"], 'did you mean "early-out"?'), (["add=gates"], '"gate"'),
                                      (["gate", "--strategy", "chunked"], "twice"),
                                      (["add=gate", "--strategy", "add=gate"], "twice")):
                with self.subTest(command=command[0], arguments=arguments):
                    self.fail_with(*command, "--strategy", *arguments, "--device", "reference", code=2, saying=saying)

    @for_each_device
    def test_a_loop_without_max_runs_until_it_is_done(self, device):
        program = self.write("open.json", json.dumps(OPEN_LOOP))
        for strategy in ([], ["--strategy", "chunked"]):
            report = json.loads(self.succeed("run", program, "--set", "rounds=200", *strategy, "--json", "--device",
                                             device))
            self.assertEqual(report["loops"], [{"label": "relax", "trips": 200, "exit_reason": "converged"}])
            self.assertEqual(report["host_waits"], 1)
            self.assertGreater(report["observations"], 0)

    def test_host_free_refuses_a_loop_without_max_by_name(self):
        program = self.write("open.json", json.dumps(OPEN_LOOP))
        for command in ("run", "explain"):
            self.fail_with(command, program, "--host-free", "--device", "reference", saying='while "relax"')

    @for_each_device
    def test_an_endless_loop_ends_at_the_time_limit_and_writes_nothing(self, device):
        program = self.write("open.json", json.dumps(OPEN_LOOP))
        self.fail_with("run", program, "--set", "rounds=4294967295", "--time-limit", "0.2", "--out",
                       f"y={self.folder / 'y.npy'}", "--device", device, saying='loop "relax"')

    def test_a_time_limit_is_a_time(self):
        for limit in ("0", "-1", "soon", "nan", "inf"):
            self.fail_with("run", self.write_program(), "--time-limit", limit, code=2, saying="--time-limit")


class CalibrateTest(CommandTest):
    def test_what_is_measured_is_printed_kept_and_used(self):
        cache = {"XDG_CACHE_HOME": str(self.folder)}
        program = self.write_program()
        explain = ("explain", program, "--device", "reference")
        self.assertIn("default costs", self.succeed(*explain, environment=cache))
        figures = json.loads(self.succeed("calibrate", "--device", "reference", "--json", environment=cache))
        self.assertEqual(list(figures), ["device", "kept", "dispatch", "scalar_step", "indirect",
                                         "indirect_empty", "workgroup_latch", "workgroup_out", "conditional_begin",
                                         "conditional_on", "conditional_off", "resident_step", "resident_invocation",
                                         "resident_idle", "submission", "round_trip"])
        self.assertTrue(figures["kept"])
        for name, figure in list(figures.items())[2:]:
            self.assertGreaterEqual(figure, 0, name)
            self.assertLess(figure, 1e6, name)
        self.assertIn("measured costs", self.succeed(*explain, environment=cache))

    def test_figures_that_cannot_be_kept_are_no_success(self):
        nowhere = {"XDG_CACHE_HOME": str(self.folder / "file" / "cache")}
        (self.folder / "file").write_text("not a folder")
        result = run("calibrate", "--device", "reference", environment=nowhere)
        self.assertEqual(result.returncode, 1)
        self.assertIn("not kept", result.stdout)

    def test_an_unknown_device_is_named(self):
        self.fail_with("calibrate", "--device", "no such device", saying="evice")


class BadProgramTest(CommandTest):
    TEXT = json.dumps(PROGRAM)
    FILES = {
        "an empty file": ("", "program.json"),
        "a truncated text": (TEXT[:100], "program.json"),
        "no JSON": ("wavegate", "program.json"),
        "another version": (TEXT.replace('"wavegate": 1', '"wavegate": 2'), "wavegate"),
        "a member twice": (TEXT[:-1] + ', "name": "again"}', "name"),
        "a misspelt member": (TEXT.replace('"buffers"', '"bufers"'), '"buffers"'),
        "an unknown buffer": (TEXT.replace('"x", "y", "y"', '"x", "y", "q"'), "q"),
        "a count below zero": (TEXT.replace('"count": 8', '"count": -8', 1), "count"),
        "a count that overflows": (TEXT.replace('"count": 8', '"count": 18446744073709551617', 1), "count"),
        "a NaN": (TEXT.replace('"value": 2', '"value": NaN'), "program.json"),
        "a number beyond double": (TEXT.replace('"value": 2', '"value": 1e999'), "program.json"),
        "endless nesting": ("[" * 1000000, "program.json"),
        "bytes that are no UTF-8": (b'{"wavegate": 1, "name": "\xff", "run": []}', "program.json"),
    }

    def test_every_bad_program_is_refused(self):
        for what, (content, saying) in self.FILES.items():
            for command in ("run", "explain"):
                with self.subTest(what, command=command):
                    self.fail_with(command, self.write("program.json", content), "--device", "reference",
                                   saying=saying)

    def test_a_missing_program_is_named(self):
        self.fail_with("run", self.folder / "none.json", saying="none.json")

    def test_unknown_names_are_refused_with_the_nearest(self):
        program = self.write_program()
        x = self.write("x.npy", npy("f", range(8)))
        for option, value, saying in (("--in", f"xx={x}", '"xx"'), ("--out", f"why={self.folder / 'o.npy'}", '"why"'),
                                      ("--set", "roumds=3", '"rounds"'), ("--set", "count=3", '"count"')):
            with self.subTest(value):
                text = self.fail_with("run", program, option, value, "--device", "reference", saying=saying)
                self.assertIn(str(program), text)

    def test_values_that_do_not_fit_a_parameter_are_refused(self):
        for value in ("rounds=-1", "rounds=1.5", "rounds=4294967296", "rounds=many", "a=1e99"):
            with self.subTest(value):
                self.fail_with("run", self.write_program(), "--set", value, "--device", "reference",
                               saying=value.split("=")[0])

    def test_inputs_of_another_size_or_type_are_refused(self):
        for content in (npy("f", range(7)), npy("i", range(8)), npy("f", range(8))[:-1]):
            self.fail_with("run", self.write_program(), "--in", f"x={self.write('x.npy', content)}", "--device",
                           "reference", saying="x")


    def test_an_input_without_an_end_is_refused(self):
        self.fail_with("run", self.write_program(), "--in", "x=/dev/zero", "--device", "reference", saying="/dev/zero")


class ExplainTest(CommandTest):
    def test_the_first_line_says_for_which_profile(self):
        self.assertRegex(self.succeed("explain", self.write_program()).splitlines()[0], r'profile of ".*" \(reference\)')

    def test_regions_come_with_strategy_and_reason_and_then_the_graph(self):
        text = self.succeed("explain", self.write_program())
        self.assertRegex(text, r"region +strategy +us +us if not +reason\n")
        self.assertRegex(text, r'(?m)^while "add" +\S+ +\d+\.\d +\d+\.\d +\S')
        self.assertIn('graph "doubling"', text)

    def test_dot_is_a_graph_for_graphviz(self):
        text = self.succeed("explain", self.write_program(), "--dot")
        code = [line for line in text.splitlines() if not line.startswith("//")]
        self.assertTrue(code[0].startswith("digraph"), code[0])
        self.assertEqual(code[-1], "}")

    def test_json_has_exactly_these_members(self):
        report = json.loads(self.succeed("explain", self.write_program(), "--json"))
        self.assertEqual(list(report), ["program", "device", "backend", "regions", "notes", "graph"])
        self.assertTrue(report["regions"])
        for region in report["regions"]:
            self.assertEqual(list(region), ["depth", "label", "strategy", "reason", "microseconds",
                                            "microseconds_if_not"])
            self.assertIn(region["strategy"], STRATEGIES)
