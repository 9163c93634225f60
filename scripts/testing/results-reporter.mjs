/** Writes what `scripts/test.mjs` counts and decides by to the file that `TEST_RESULTS_FILE` names. */

import { writeFileSync } from "node:fs";

export default class ResultsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const files = modules.map((module) => {
      const tests = [...module.children.allTests()].map((test) => test.result());
      const count = (state) => tests.filter((result) => result.state === state).length;
      const suites = [...module.children.allSuites()];
      const failures = [module, ...suites].flatMap((suite) => suite.errors());
      const errors = [...failures, ...tests.flatMap((result) => result.errors ?? [])];
      return {
        path: module.relativeModuleId,
        isFailed: module.state() === "failed",
        passed: count("passed"),
        failed: count("failed"),
        skipped: count("skipped"),
        errors: errors.map(({ message }) => message),
      };
    });
    const results = { files, unhandled: unhandledErrors.length };
    writeFileSync(process.env.TEST_RESULTS_FILE, JSON.stringify(results));
  }
}
