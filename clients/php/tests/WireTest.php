<?php

declare(strict_types=1);

namespace Parley\Tests;

use GuzzleHttp\Client as Guzzle;
use Http\Discovery\Psr18ClientDiscovery;
use Nyholm\Psr7\Factory\Psr17Factory;
use Parley\Discovery;
use Parley\ErrorKind;
use Parley\ParleyException;
use Parley\RetryPolicy;
use Parley\ServerClient;
use Parley\Tests\Support\LocalServer;
use Parley\Wire;
use PHPUnit\Framework\Attributes\DataProvider;
use PHPUnit\Framework\TestCase;
use Psr\Http\Client\ClientInterface;
use Symfony\Component\HttpClient\HttpClient;
use Symfony\Component\HttpClient\Psr18Client as Symfony;

/** Real requests with common HTTP clients. */
final class WireTest extends TestCase
{
    private static LocalServer $server;

    public static function setUpBeforeClass(): void
    {
        self::$server = LocalServer::start(__DIR__ . '/server.php');
    }

    public static function tearDownAfterClass(): void
    {
        self::$server->stop();
    }

    /** @return array<string, array{\Closure(): Wire}> */
    public static function wires(): array
    {
        $nyholm = new Psr17Factory();
        return [
            'found' => [static fn (): Wire => Wire::open()],
            'Guzzle, as found' => [static fn (): Wire => Wire::open(Discovery::configure(new Guzzle()))],
            'Symfony, as found' => [static fn (): Wire => Wire::open(
                Discovery::configure(new Symfony(HttpClient::create(), $nyholm, $nyholm)),
                $nyholm,
                $nyholm,
            )],
            'Guzzle' => [static fn (): Wire => Wire::open(new Guzzle())],
            'Symfony' => [static fn (): Wire => Wire::open(
                new Symfony(HttpClient::create(['max_redirects' => 0]), $nyholm, $nyholm),
                $nyholm,
                $nyholm,
            )],
        ];
    }

    /** @param \Closure(): Wire $open */
    #[DataProvider('wires')]
    public function testARequestArrivesAsItWasMeant(\Closure $open): void
    {
        $seen = self::client($open())->putIdentity('a/b?c#d %é|', ['attributes' => ['name' => 'Zoë']], ['verified' => true]);
        self::assertSame('PUT', $seen['method']);
        self::assertSame('/v1/identities/a%2Fb%3Fc%23d%20%25%C3%A9%7C?verified=true', $seen['path']);
        self::assertSame('{"attributes":{"name":"Zoë"}}', $seen['body']);
        $headers = array_change_key_case($seen['headers']);
        self::assertSame('Bearer sk_test', $headers['authorization']);
        self::assertSame('application/json', $headers['content-type']);
        self::assertSame('parley-php/' . ServerClient::VERSION, $headers['user-agent']);
    }

    public function testForkedProcessesDoNotReadTheResponsesOfOthers(): void
    {
        if (!function_exists('pcntl_fork')) {
            self::markTestSkipped('PHP has no pcntl.');
        }
        self::assertSame("wrong: 0\n", shell_exec(escapeshellarg(PHP_BINARY) . ' ' . escapeshellarg(__DIR__ . '/forks.php')));
    }

    /** @param \Closure(): Wire $open */
    #[DataProvider('wires')]
    public function testARedirectIsNotFollowed(\Closure $open): void
    {
        self::assertSame(ErrorKind::Unreadable, self::failure($open(), '/redirecting')->kind);
    }

    /** @param \Closure(): Wire $open */
    #[DataProvider('wires')]
    public function testAReplyThatBreaksOffIsNoReply(\Closure $open): void
    {
        self::assertSame(ErrorKind::NoReply, self::failure($open(), '/breaking-off')->kind);
    }

    /** @param \Closure(): Wire $open */
    #[DataProvider('wires')]
    public function testAServerThatIsNotThereIsNoReply(\Closure $open): void
    {
        $client = new ServerClient('http://127.0.0.1:1', 'sk_test', new RetryPolicy(retries: 0), $open());
        $this->expectExceptionObject(new ParleyException(ErrorKind::NoReply, 'The server could not be reached'));
        $client->readIngestion();
    }

    /** @return array<string, array{\Closure(): ?Wire}> */
    public static function wiresWithoutProxies(): array
    {
        $nyholm = new Psr17Factory();
        $symfony = static fn (): ClientInterface => new Symfony(HttpClient::create(), $nyholm, $nyholm);
        return [
            'the client, by itself' => [static fn (): ?Wire => null],
            'Guzzle' => [static fn (): Wire => Wire::open(Discovery::configure(new Guzzle(), false))],
            'Symfony' => [static fn (): Wire => Wire::open(Discovery::configure($symfony(), false), $nyholm, $nyholm)],
        ];
    }

    /**
     * It could read the key.
     *
     * @param \Closure(): ?Wire $open
     */
    #[DataProvider('wiresWithoutProxies')]
    public function testAProxyOfTheEnvironmentIsNotUsedWithoutTls(\Closure $open): void
    {
        $names = ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY'];
        foreach ($names as $name) {
            putenv("$name=http://127.0.0.1:1");
            $_SERVER[$name] = 'http://127.0.0.1:1';
        }
        try {
            $client = new ServerClient(self::$server->url, 'sk_test', new RetryPolicy(retries: 0), $open());
            self::assertSame('/v1/ingestion', $client->readIngestion()['path']);
        } finally {
            foreach ($names as $name) {
                putenv($name);
                unset($_SERVER[$name]);
            }
        }
    }

    public function testTheClientThatIsFoundHasATimeLimit(): void
    {
        $client = Discovery::client();
        self::assertInstanceOf(ClientInterface::class, $client);
        if ($client instanceof Guzzle) {
            self::assertSame(Discovery::TIMEOUT_S, $client->getConfig('timeout'));
        }
        if (class_exists(Psr18ClientDiscovery::class)) {
            self::assertInstanceOf(Psr18ClientDiscovery::find()::class, $client);
        }
    }

    private static function client(Wire $wire, string $below = ''): ServerClient
    {
        return new ServerClient(self::$server->url . $below, 'sk_test', new RetryPolicy(retries: 0), $wire);
    }

    private static function failure(Wire $wire, string $below): ParleyException
    {
        try {
            self::client($wire, $below)->readIngestion();
        } catch (ParleyException $error) {
            return $error;
        }
        self::fail('Expected an exception.');
    }
}
