/** Entry point: connects to the gateway that served the page, or to the nearest of the venue's. */

import { PerpgateClient } from "@perpgate/sdk";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./app.js";
import { Terminal } from "./terminal.js";
import { chosenLanguage, showLanguage } from "./text/texts.js";
import { startTheme } from "./theme/theme.js";
import { gatewaysInPage } from "./venue/gateway-feed.js";
import { findInjectedWallets } from "./venue/injected-wallets.js";
import { LINE_TIMES } from "./venue/line.js";
import { sandboxInPage } from "./venue/sandbox-feed.js";
import { PageClock } from "./venue/venue-clock.js";
import "./theme/tokens.css";
import "./theme/base.css";
import "./theme/controls.css";
import "./theme/layout.css";
import "./theme/touch.css";

const root = document.getElementById("root");
if (root === null) throw new Error("#root is missing");

startTheme();
findInjectedWallets();
const sandbox = sandboxInPage();
const clock = new PageClock();
// A sandbox has a time of its own, which sign-in messages and nonces must have, too.
const ownTime = { nowMs: () => clock.now() ?? Date.now(), random: Math.random };
const terminal: Terminal = new Terminal(
  new PerpgateClient({
    url: [location.origin, ...gatewaysInPage()],
    ...LINE_TIMES,
    ...(sandbox === undefined ? {} : { clock: ownTime }),
    // A person who presses a button means the market on the screen.
    budgetMs: 5_000,
    onReceiptProblem: (problem) => terminal.receiptProblem(problem),
  }),
  clock,
  sandbox?.control,
);
terminal.start();
// In English if the other texts cannot be loaded: the page must come up.
void showLanguage(chosenLanguage())
  .catch(reportError)
  .then(() =>
    createRoot(root).render(
      <StrictMode>
        <App terminal={terminal} />
      </StrictMode>,
    ),
  );
