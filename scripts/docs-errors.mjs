#!/usr/bin/env node
/** Writes docs/errors.md from the built error table: `npm run docs:errors`. */
import { writeFileSync } from "node:fs";
import { ERROR_TABLE } from "@perpgate/protocol/core";
import { errorsPage } from "./errors-page.mjs";

writeFileSync(new URL("../docs/errors.md", import.meta.url), errorsPage(ERROR_TABLE));
