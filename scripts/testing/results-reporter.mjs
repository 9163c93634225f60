/** Writes what `scripts/test.mjs` counts and decides by to the file that `TEST_RESULTS_FILE` names. */

import { writeFileSync } from "node:fs";

export default class ResultsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => {
      const tests = [...module.children.allTests()];
      const count = (state) => tests.filter((test) => test.result().state === state).length;
      const errorsIn = (name, errors = []) => errors.map(({ message }) => ({ name, message }));
      const suites = [module, ...module.children.allSuites()];
      const errors = [
        ...suites.flatMap((suite) => errorsIn(suite.name ?? "", suite.errors())),
        ...tests.flatMap((test) => errorsIn(test.fullName, test.result().errors)),
      ];
      const { collectDuration, duration } = module.diagnostic();
      return {
        path: module.relativeModuleId,
        // One whose worker has died has neither passed nor failed.
        isFailed: !["passed", "skipped"].includes(module.state()),
        passed: count("passed"),
        failed: count("failed"),
        skipped: tests
          .filter((test) => test.result().state === "skipped")
          .map(({ fullName }) => fullName),
        errors,
        ms: collectDuration + duration,
      };
    });
    const results = { files, unhandled: unhandledErrors.length };
    writeFileSync(process.env.TEST_RESULTS_FILE, JSON.stringify(results));
  }
}
