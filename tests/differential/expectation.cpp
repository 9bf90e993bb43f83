#include "differential/expectation.h"

namespace wavegate::differential {

Result<Expectation> expect(const Case& one, const target::Profile& profile) {
  WAVEGATE_TRY(Interpreter interpreter, Interpreter::make(one.program, profile));
  Expectation expected;
  for (const Step& step : one.steps) {
    if (step.reset) interpreter.reset();
    for (const Step::Setting& setting : step.settings) interpreter.set(setting.parameter, setting.value.bits);
    if (const Result<void> ran = interpreter.run(); !ran.ok()) {
      // A grid beyond its maximum is a meaning that a device must share; all else is a mistake of the program.
      if (!ran.error().where.starts_with("dispatch")) return ran.error();
      expected.failure = ran.error();
      break;
    }
    expected.states.push_back(interpreter.state());
  }
  expected.statistics = interpreter.statistics();
  return expected;
}

}  // namespace wavegate::differential
