import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** Starts DynamoDB Local on loopback: it has no option for it and would listen everywhere. */
public class Loopback {
    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer local = ServerRunner.createServerFromCommandLineArgs(arguments);
        var jetty = DynamoDBProxyServer.class.getDeclaredField("server");
        jetty.setAccessible(true);
        for (var connector : ((Server) jetty.get(local)).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        local.start();
        local.join();
    }
}
