/**
 * Runs before the page's scripts: notes notifications of the browser, which a headless one does not show, and
 * how often it was asked to allow them.
 */
export const HEARD_NOTIFICATIONS = `
  window.heard = [];
  window.asked = 0;
  window.Notification = class {
    static permission = "granted";
    static requestPermission = async () => {
      window.asked++;
      return (Notification.permission = "granted");
    };
    constructor(title) { window.heard.push(title); }
  };
`;
