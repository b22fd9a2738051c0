// Instrumented `fetch` that records the HTTP requests of a client and can cut its streams.

/** Creates a `fetch` for one client: `requests` are the sent requests, `cut` breaks all response streams of POSTs. */
export function createWire() {
  const requests = [];
  const open = new Set();

  /** Fetches like the global `fetch`. */
  async function wire(url, init = {}) {
    const headers = new Headers(init.headers);
    const request = {
      verb: init.method ?? 'GET',
      message: init.body ? JSON.parse(init.body) : undefined,
      lastEventId: headers.get('last-event-id'),
      session: headers.get('mcp-session-id'),
    };
    requests.push(request);
    const cutter = new AbortController();
    const signals = [cutter.signal, init.signal].filter(Boolean);
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    request.status = response.status;
    request.type = response.headers.get('content-type');
    if (request.verb === 'POST') open.add(cutter);
    return response;
  }

  function cut() {
    for (const cutter of open) cutter.abort();
    open.clear();
  }

  return { fetch: wire, requests, cut };
}
