/** The trader's commands, in the order of the help. They reach a venue through the SDK alone. */

import type { Command } from "commander";
import { addAccountReads, addLedger, addWithdrawals } from "./account-reads.js";
import { addMarketReads } from "./market-commands.js";
import { addOrderCommands } from "./order-commands.js";
import { addPositionCommands } from "./position-commands.js";
import { addReceiptCommands } from "./receipt-commands.js";
import { addDeposit, addLogin, addLogout, addSessions, addWithdraw } from "./session-commands.js";

export function addTraderCommands(program: Command): void {
  program.commandsGroup("Trade:");
  addLogin(program);
  addLogout(program);
  addOrderCommands(program);
  addPositionCommands(program);
  addAccountReads(program);
  addLedger(program);
  addSessions(program);
  addDeposit(program);
  addWithdraw(program);
  addWithdrawals(program);
  addReceiptCommands(program);
  program.commandsGroup("Look:");
  addMarketReads(program);
}
