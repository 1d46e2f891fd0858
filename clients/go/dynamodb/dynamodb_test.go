// Package clients runs the AWS SDK for Go, version 2, against a running server.
package clients

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

type item = map[string]types.AttributeValue

func text(value string) types.AttributeValue {
	return &types.AttributeValueMemberS{Value: value}
}

func number(value any) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: fmt.Sprint(value)}
}

func TestWaitersPagesConditionsTransactions(t *testing.T) {
	ctx := context.Background()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	credentials := aws.Credentials{
		AccessKeyID:     os.Getenv("AWS_ACCESS_KEY_ID"),
		SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
	}
	client := dynamodb.NewFromConfig(aws.Config{
		Region:       os.Getenv("AWS_DEFAULT_REGION"),
		BaseEndpoint: aws.String(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB")),
		Credentials: aws.CredentialsProviderFunc(
			func(context.Context) (aws.Credentials, error) { return credentials, nil }),
	})
	table := aws.String(fmt.Sprintf("go-%d", time.Now().UnixNano()))
	_, err := client.CreateTable(ctx, &dynamodb.CreateTableInput{
		TableName:   table,
		BillingMode: types.BillingModePayPerRequest,
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("pk"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("sk"), AttributeType: types.ScalarAttributeTypeN},
		},
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("pk"), KeyType: types.KeyTypeHash},
			{AttributeName: aws.String("sk"), KeyType: types.KeyTypeRange},
		},
	})
	check(err)
	described := &dynamodb.DescribeTableInput{TableName: table}
	check(dynamodb.NewTableExistsWaiter(client).Wait(ctx, described, 30*time.Second))
	for n := 0; n < 40; n++ {
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: table, Item: item{"pk": text("p"), "sk": number(n), "n": number(n % 2)},
		})
		check(err)
	}
	pages := dynamodb.NewQueryPaginator(client, &dynamodb.QueryInput{
		TableName:                 table,
		KeyConditionExpression:    aws.String("pk = :p"),
		FilterExpression:          aws.String("n = :n"),
		ExpressionAttributeValues: item{":p": text("p"), ":n": number(1)},
		Limit:                     aws.Int32(7),
	})
	var seen []string
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		check(err)
		for _, found := range page.Items {
			seen = append(seen, found["sk"].(*types.AttributeValueMemberN).Value)
		}
	}
	if len(seen) != 20 || seen[0] != "1" || seen[19] != "39" {
		t.Fatal(seen)
	}
	_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: table, Item: item{"pk": text("p"), "sk": number(1)},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	var refused *types.ConditionalCheckFailedException
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	put := func(sk int, condition *string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{
			TableName: table, Item: item{"pk": text("tx"), "sk": number(sk)},
			ConditionExpression: condition,
		}}
	}
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{put(1, nil), put(2, nil)},
	})
	check(err)
	_, err = client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: []types.TransactWriteItem{
			put(3, nil), put(1, aws.String("attribute_not_exists(pk)")),
		},
	})
	var canceled *types.TransactionCanceledException
	if !errors.As(err, &canceled) || *canceled.CancellationReasons[1].Code != "ConditionalCheckFailed" {
		t.Fatal(err)
	}
	_, err = client.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: table})
	check(err)
	check(dynamodb.NewTableNotExistsWaiter(client).Wait(ctx, described, 30*time.Second))
}
