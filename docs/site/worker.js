// A page that is opened from a folder may not start workers. This stands in for them: a script runs
// in a frame of its own, and messages go to and from it as to and from a worker.
(function () {
  "use strict";
  if (location.protocol !== "file:") return;

  class FrameWorker extends EventTarget {
    constructor(url) {
      super();
      this.waiting = [];
      this.scope = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.setAttribute("aria-hidden", "true");
      document.documentElement.appendChild(frame);
      this.frame = frame;
      this.start(frame.contentWindow, new URL(url, document.baseURI).href);
    }

    start(scope, url) {
      // Messages of the script to its owner; the frame's own postMessage would go to the frame.
      scope.postMessage = (data) => {
        setTimeout(() => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          if (typeof this.onmessage === "function") this.onmessage(event);
        }, 0);
      };
      scope.importScripts = (...names) => names.reduce(
        (before, name) => before.then(() => this.load(scope, new URL(name, url).href)),
        Promise.resolve());
      this.load(scope, url).then(() => {
        this.scope = scope;
        for (const data of this.waiting.splice(0)) this.deliver(data);
      }, (failure) => this.dispatchEvent(new ErrorEvent("error", { message: String(failure) })));
    }

    load(scope, url) {
      return new Promise((loaded, failed) => {
        const script = scope.document.createElement("script");
        script.src = url;
        script.onload = loaded;
        script.onerror = () => failed(url + " cannot be loaded");
        scope.document.documentElement.appendChild(script);
      });
    }

    deliver(data) {
      setTimeout(() => {
        const event = new MessageEvent("message", { data });
        this.scope.dispatchEvent(event);
      }, 0);
    }

    postMessage(data) {
      if (this.scope === null) this.waiting.push(data);
      else this.deliver(data);
    }

    terminate() {
      this.frame.remove();
    }
  }

  window.Worker = FrameWorker;
})();
