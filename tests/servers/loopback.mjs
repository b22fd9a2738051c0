// Preloaded into an HTTP server. Overrides the address so that the server listens on a free loopback port, and prints the
// port.
import net from 'node:net';

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function listenOnLoopback(...given) {
  this.once('listening', () => console.error(`listening on ${this.address().port}`));
  const options = { host: '127.0.0.1', port: 0 };
  return listen.call(this, options, ...given.filter(argument => typeof argument === 'function'));
};
