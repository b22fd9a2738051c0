// Loaded before a server that listens: whatever address the server names, it listens on a free port of this computer only,
// and says which one.
import net from 'node:net';

const { listen } = net.Server.prototype;
net.Server.prototype.listen = function listenOnLoopback(...given) {
  this.once('listening', () => console.error(`listening on ${this.address().port}`));
  const options = { host: '127.0.0.1', port: 0 };
  return listen.call(this, options, ...given.filter(argument => typeof argument === 'function'));
};
