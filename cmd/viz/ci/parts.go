package main

import "fmt"

// parts lists all parts of the long tier. A test that would take too long for one part is split
// into several parts, each with its own pattern for subtests.
var parts = append(
	badNetworks(),
	part{name: "loop-ways", packages: []string{"./web/loop"}, tests: []string{
		"TestWaysByGesture", "TestWaysDraw", "TestWaysHistory", "TestWaysInside", "TestWaysToReconnect",
		"TestWaysSettings", "TestWaysExportAndSetUp", "TestWaysStrip", "TestEvictedRunReturnsOnNextPress",
		"TestSamplingChainByKeyAndDrag",
	}},
	part{
		name: "loop-states-1", packages: []string{"./web/loop"}, tests: []string{"TestEveryStateIsAccessible"},
		sub: "1",
	},
	part{
		name: "loop-states-2", packages: []string{"./web/loop"}, tests: []string{"TestEveryStateIsAccessible"},
		sub: "2",
	},
	part{
		name: "loop-states-3", packages: []string{"./web/loop"}, tests: []string{"TestEveryStateIsAccessible"},
		sub: "3",
	},
	part{name: "loop-story", packages: []string{"./web/loop"}, tests: []string{
		"TestBrowserStoryByKeyboard", "TestStoryStatesAreAccessible", "TestChatFormByEveryHand",
		"TestSettingsCanBeChangedBeforeStart",
		"TestBytesGrowWithTheText",
	}},
	part{name: "learn-screens", packages: []string{"./web/learn"}, tests: []string{
		"TestLearnIsAccessible", "TestAnswersAreAccessible", "TestLearnReflows",
	}},
	part{name: "learn-experiments", packages: []string{"./web/learn"}, tests: []string{"TestExperimentsAccessible"}},
	part{name: "learn-pictures-1", packages: []string{"./web/learn"}, tests: []string{"TestFirstPicturesAccessible"}},
	part{name: "learn-pictures-2", packages: []string{"./web/learn"}, tests: []string{"TestMiddlePicturesAccessible"}},
	part{name: "learn-pictures-3", packages: []string{"./web/learn"}, tests: []string{"TestLastPicturesAccessible"}},
	part{name: "learn-ways", packages: []string{"./web/learn"}, tests: []string{
		"TestLessonByEveryHand", "TestPictureByEveryHand", "TestExperimentsByEveryHand",
		"TestHomePromptStartsTheFirstRun", "TestTermNoteOpensInPlace",
	}},
	part{name: "practice-screens", packages: []string{"./web/practice"}, tests: []string{
		"TestRevealAccessible", "TestDrillStatesAreAccessible", "TestPracticePagesAreAccessible",
		"TestProgressAccessible", "TestShortDrillToTheSummary",
	}},
	part{name: "practice-ways", packages: []string{"./web/practice"}, tests: []string{
		"TestSmallDrillByEveryHand", "TestQuizByEveryHand",
	}},
	part{
		name: "killed-class-1", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledServerKeepsTheClass"},
		sub: "class_1",
	},
	part{
		name: "killed-class-2", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledServerKeepsTheClass"},
		sub: "class_2",
	},
	part{
		name: "killed-cluster-servers", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledCluster"},
		sub: "(owner|server)",
	},
	part{
		name: "killed-cluster-nodes", packages: []string{"./cmd/viz"}, tests: []string{"TestKilledCluster"},
		sub: "node",
	},
	part{
		name:     "killed-databases",
		packages: []string{"./web/store", "./web/progress", "./web/class/room", "./web/journal"},
		tests: []string{
			"TestKilledProcessKeepsConfirmedEntries", "TestKilledBetweenReviews", "TestKilledInMidClass",
			"TestKilledBetweenAppends",
		},
	},
	part{
		name: "damaged-databases", packages: []string{"./web/store", "./web/class/room", "./web/journal"},
		tests: []string{
			"TestDamagedAtRandom", "TestRowsDamagedAtRandom", "TestPagesDamagedAtRandom",
			"TestScrubReachesUnusedPartsOfPages", "TestInterruptedRenamesLoseNothing",
			"TestSalvageWithoutSchemaOrHeader", "TestLogNumbersAreRepairedFromRecords", "TestWasteIsCompacted",
		},
	},
	part{name: "random-classes", packages: []string{"./web/class/remote", "./web/cluster"}, tests: []string{
		"TestConfirmedActionsCountOnceUnderFaults",
	}},
	part{name: "streams", packages: []string{"./web/journal/stream"}, tests: []string{
		"TestStreamConforms", "TestConformanceOfThreeNodes", "TestAppendsSurviveNodeRestarts",
	}},
	part{name: "eight-hours", packages: []string{"./web"}, tests: []string{"TestEightHoursOfClasses"}},
	part{name: "memory-rush", packages: []string{"./cmd/viz"}, tests: []string{"TestMemoryStaysBoundedInARush"}},
	part{name: "labs-screens", packages: []string{"./web/labs"}, tests: []string{
		"TestLabsAreAccessible", "TestGuessIsMarkedAmongTheSavings",
	}},
	part{name: "labs-ways", packages: []string{"./web/labs"}, tests: []string{
		"TestEveryLabByEveryHand", "TestCancelKeepsMeasurements", "TestSlidersAndResultsFollow",
		"TestStepThroughLanes", "TestListsAreChips", "TestCutAndReload",
		"TestCutAndReloadOnPhone",
	}},
	part{name: "deep-model", packages: []string{"./cmd/viz"}, tests: []string{"TestDeepModelFitsEveryScreen"}},
	part{name: "journey-and-labs", packages: []string{"./cmd/viz"}, tests: []string{
		"TestJourneyByKeyboard", "TestEveryLabPrintsJSONAndCSV",
	}},
	part{name: "class-screens", packages: []string{"./web/classroom"}, tests: []string{
		"TestClassPagesAreAccessible", "TestClassStoryOnEveryScreen", "TestEndOfClassIsShownEverywhere",
		"TestVoteComesIntoView", "TestDraftMistakesByKeyboard", "TestNamesAppearInTheDrawStrip",
		"TestAssignByEveryHand",
	}},
	part{name: "first-run", packages: []string{"./web/first"}, tests: []string{
		"TestBrowserFirstRun", "TestScenesAreAccessible",
	}},
	part{name: "why", packages: []string{"./web/why"}, tests: []string{
		"TestBrowserSwitchesParts", "TestPageIsAccessible", "TestScoreIsAccessible", "TestEveryWordIsInTheCatalog",
	}},
	part{
		name: "api-and-frames", packages: []string{"./web/api", "./web/embed", "./web/model"},
		tests: []string{
			"TestRequestsAppearLive", "TestPageIsAccessible", "TestLoopInAFrame", "TestModelPageIsAccessible",
			"TestGoClient",
		},
	},
	part{name: "pages-move", packages: []string{"./cmd/viz"}, tests: []string{"TestPagesMoveToOtherServers"}},
	part{name: "cached-and-not", packages: []string{"./infer"}, tests: []string{"TestCachedEqualsUncached"}},
	part{
		name: "speculation", packages: []string{"./infer/speculation", "./infer/lab", "./infer/tokenizer"},
		tests: []string{
			"TestSpeculationHasTheTargetsDistribution", "TestGreedySpeculationIsPlainGreedy",
			"TestDistributionCheckCatchesBrokenRules",
			"TestCanceledRunReturnsPartialReport", "TestParseMemory",
		},
	},
	part{
		name: "release-linux", packages: []string{"./cmd/viz/dist"}, tests: []string{"TestReproducibleRelease"},
		sub: "linux",
	},
	part{
		name: "release-darwin", packages: []string{"./cmd/viz/dist"}, tests: []string{"TestReproducibleRelease"},
		sub: "darwin",
	},
	part{
		name: "release-windows", packages: []string{"./cmd/viz/dist"}, tests: []string{"TestReproducibleRelease"},
		sub: "windows",
	},
	part{name: "hostile-client", packages: []string{"./web"}, tests: []string{"TestHostileClient"}},
	part{name: "tab-learn-lessons", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestLessonByEveryHand", "TestReadingIsNoticed", "TestReadingIsReportedAgain", "TestSearchFromAnyPage",
		"TestPhoneMenu", "TestTermNoteOpensInPlace", "TestNumbersFoldedAndRemembered",
	)},
	part{name: "tab-learn-home", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestHomePlaysTheLoop", "TestHomeWithReducedMotion", "TestHomeWritesFirst",
		"TestHomeRevealsNothingEarly", "TestHomePromptStartsTheFirstRun",
	)},
	part{name: "tab-learn-picture", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestFirstScreenHasAnExercise", "TestPictureFollowsTheText", "TestPictureByEveryHand",
	)},
	part{name: "tab-learn-experiments", packages: []string{"./web/learn"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestExperimentsByEveryHand", "TestExperimentReportsErrorsInPlace", "TestExperimentPlays",
		"TestExperimentWithoutAScript", "TestExperimentMotion", "TestAnswersAreAccessible",
	)},
	part{name: "tab-learn-pages", packages: []string{"./web/learn"}, tests: []string{"TestInTabPages"}, sub: anyOf(
		"TestLearnIsAccessible", "TestHomeIsShort", "TestOpeningsFitTheField",
	)},
	part{name: "tab-learn-audit", packages: []string{"./web/learn"}, tests: []string{"TestInTabPages"}, sub: anyOf(
		"TestExperimentsAccessible",
	)},
	part{name: "tab-learn-paper", packages: []string{"./web/learn"}, tests: []string{"TestInTabPages"}, sub: anyOf(
		"TestLessonOnPaper", "TestReferencePrintsOnOneSheet",
	)},
	part{name: "tab-learn-reflow", packages: []string{"./web/learn"}, tests: []string{"TestInTabPages"}, sub: anyOf(
		"TestExperimentWithReducedMotion", "TestLearnReflows",
	)},
	part{
		name: "tab-learn-pictures-1", packages: []string{"./web/learn"}, tests: []string{"TestInTabPictures"},
		sub: "^TestFirstPicturesAccessible$",
	},
	part{
		name: "tab-learn-pictures-2", packages: []string{"./web/learn"}, tests: []string{"TestInTabPictures"},
		sub: "^TestMiddlePicturesAccessible$",
	},
	part{
		name: "tab-learn-pictures-3", packages: []string{"./web/learn"}, tests: []string{"TestInTabPictures"},
		sub: "^TestLastPicturesAccessible$",
	},
	part{name: "tab-drills", packages: []string{"./web/practice"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestDrillStatesAreAccessible", "TestDrillByKeyboard", "TestDrillNamesMistakes", "TestDrillArrowKeys",
		"TestDrillAddressIsReproducible", "TestSmallDrillByEveryHand", "TestDrillFastTyping",
		"TestHelpFollowsTheFocus", "TestShortDrillToTheSummary",
	)},
	part{name: "tab-cards", packages: []string{"./web/practice"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestCardByHash", "TestCardsByKeyboard", "TestCardsByTouch", "TestCardsAreSaved", "TestCardsOnPaper",
		"TestRevealAccessible",
	)},
	part{name: "tab-practice", packages: []string{"./web/practice"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestQuizByEveryHand", "TestQuizShowsOneQuestion", "TestPredictByKeyboard",
		"TestProgressFileRestoresProgress",
	)},
	part{name: "tab-practice-screens", packages: []string{"./web/practice"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestProgressAccessible", "TestPracticePagesAreAccessible",
	)},
	part{name: "tab-paper", packages: []string{"./web"}, tests: []string{"TestInTabPages"}},
	part{name: "tab-labs-fields", packages: []string{"./web/labs"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestEveryLabByEveryHand", "TestErrorNextToFieldInBrowser", "TestBillJSONFollowsFieldsInBrowser",
		"TestJSONFollowsUnderTheCaret", "TestListsAreChips",
	)},
	part{name: "tab-labs-guesses", packages: []string{"./web/labs"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestGuessIsDrawnFirst", "TestGuessIsDrawnAsBars", "TestGuessIsMarkedInTheRace",
		"TestGuessIsMarkedAmongTheSavings", "TestCancelKeepsMeasurements", "TestSlidersAndResultsFollow",
	)},
	part{name: "tab-labs-results", packages: []string{"./web/labs"}, tests: []string{"TestInTab"}, sub: anyOf(
		"TestRowsAreSaved", "TestFirstChartFitsPhones", "TestRingsAreDragged", "TestStepThroughLanes",
		"TestBillGrowsPerToken", "TestSpeculationRoundsInWords",
	)},
	part{name: "tab-labs-screens", packages: []string{"./web/labs"}, tests: []string{"TestInTabAccessible"}},
	part{
		name: "tab-labs-cut", packages: []string{"./web/labs"}, tests: []string{"TestInTabCut"},
		sub: "^TestCutAndReload$",
	},
	part{
		name: "tab-labs-cut-phone", packages: []string{"./web/labs"}, tests: []string{"TestInTabCut"},
		sub: "^TestCutAndReloadOnPhone$",
	},
	part{name: "tab-loop", packages: []string{"./web/loop"}, tests: []string{"TestInTab"}},
	part{name: "tab-loop-fields", packages: []string{"./web/loop"}, tests: []string{"TestInTabFields"}},
	part{name: "tab-loop-history", packages: []string{"./web/loop"}, tests: []string{
		"TestInTabHistory", "TestInTabStrip",
	}},
	part{name: "tab-loop-inside", packages: []string{"./web/loop"}, tests: []string{"TestInTabInside"}},
	part{name: "tab-loop-moves", packages: []string{"./web/loop"}, tests: []string{"TestInTabMoves"}},
	part{name: "tab-loop-views", packages: []string{"./web/loop"}, tests: []string{"TestInTabViews"}},
	part{name: "tab-loop-screens", packages: []string{"./web/loop"}, tests: []string{"TestInTabScreens"}},
	part{name: "tab-loop-words", packages: []string{"./web/loop"}, tests: []string{"TestInTabWords"}},
	part{name: "tab-loop-draws", packages: []string{"./web/loop"}, tests: []string{"TestInTabWays"}, sub: anyOf(
		"TestWaysDraw",
	)},
	part{name: "tab-loop-settings", packages: []string{"./web/loop"}, tests: []string{"TestInTabWays"}, sub: anyOf(
		"TestWaysSettings",
	)},
	part{name: "tab-loop-exports", packages: []string{"./web/loop"}, tests: []string{"TestInTabWays"}, sub: anyOf(
		"TestWaysExportAndSetUp",
	)},
	part{name: "tab-first", packages: []string{"./web/first"}, tests: []string{"TestInTab"}},
	part{name: "tab-why", packages: []string{"./web/why", "./web/model"}, tests: []string{"TestInTab"}},
	part{name: "tab-program", packages: []string{"./cmd/viz"}, tests: []string{"TestInTab", "TestTabMatchesTheTrace"}},
	part{name: "site-downloads", packages: []string{"./web/site"}, tests: []string{
		"TestBrokenDownloadCanBeRetried", "TestWrongFilesAreNotCached", "TestSiteWorksOffline",
		"TestDownloadInterruptedAnywhere", "TestNewVersionReplacesTheOld",
	}},
	part{name: "site-browsers", packages: []string{"./web/site"}, tests: []string{
		"TestTwoTabsShareTheProgram", "TestRunsWithoutStorage", "TestFullStorageIsReported",
		"TestWorkerSurvivesSleep", "TestFirstVisitInPrivateWindow", "TestRunsWithoutAnyQuota",
	}},
	part{name: "site-pages", packages: []string{"./web/site"}, tests: []string{
		"TestSiteInAPage", "TestSitesLoopInAFrame", "TestProgramFromCompressingHost", "TestVisitUnderAPath",
		"TestOwnModelWritesTheSame", "TestModelDroppedOnThePage",
	}},
	part{name: "site-hosts", packages: []string{"./web/site"}, tests: []string{"TestHosts"}},
	part{name: "npm-api", packages: []string{"./web/api"}, npm: true, tests: []string{
		"TestClientsFromNPM", "TestExamplesRunInEveryLanguage",
	}},
	part{
		name: "npm-engine", packages: []string{"./infer/sampling", "./infer/chat", "./infer/grammar"}, npm: true,
		tests: []string{
			"TestRulesMatchLlamaCppFromNPM", "TestIDsFromNPM", "TestConstrainedRunsAreValid", "TestGeneratedSchemas",
			"TestSchemasOfTheSuite",
		},
	},
	part{name: "loop-connections", packages: []string{"./web/loop"}, tests: []string{
		"TestBlockedSocketsAreExplained", "TestBrowserReconnectsAtEveryStage",
		"TestFrozenConnectionIsReplaced", "TestFrozenConnectionLosesNothing", "TestOpenedLinkReportsNoLoss",
		"TestPageSurvivesServerRestart", "TestPressDuringOutageIsResentOnce",
		"TestPressLostWithTheServerIsReported", "TestReloadAtEveryStage", "TestReloadDuringARun",
		"TestBrowserReportsLostServer", "TestLinkInFreshBrowser", "TestSleepingTabNoticesDeadConnection",
		"TestTooLongTextKeepsTheConnection", "TestTwoTabsDriveOneRun",
		"TestTwoTabsShareRecreatedRun", "TestTwoTabsStayInStep",
	}},
	part{name: "loop-fields", packages: []string{"./web/loop"}, tests: []string{
		"TestArrowsStepAfterASliderWasDragged", "TestBrowserControlsKeepFocusAndValues", "TestConsoleIsOneRow",
		"TestEmptyLoopIsShort", "TestEnterStartsThePrompt", "TestKeyboardShortcuts",
		"TestLinksThatLeadNowhere", "TestMenusCloseAndSearchesClear", "TestOpenedDetailsStayOpen",
		"TestPageSaysWhatIsRefused", "TestPromptCoversTheStage", "TestServerEchoDoesNotOverwriteTyping",
	}},
	part{name: "loop-motion", packages: []string{"./web/loop"}, tests: []string{
		"TestMarkerDoesNotRevealTheWinner", "TestMotionOnArrivalOnly", "TestReducedMotionMovesNothing",
		"TestSettingChangeElsewhereEndsTheMarker", "TestStageMotionInBothViews", "TestStepDuringMotionCounts",
		"TestStoryWithReducedMotion", "TestZoomByTouch", "TestZoomFollowsTheRun", "TestZoomByKeyboard",
		"TestZoomMotion", "TestMapKeepsFocusDuringTheRun",
	}},
	part{name: "loop-text", packages: []string{"./web/loop"}, tests: []string{
		"TestBrowserWithholdsTheDraw", "TestBranchByKeyboard", "TestBranchByMouse", "TestBranchByTouch",
		"TestBranchKeepsTheTokenInView",
		"TestBrowserFinishedTextShowsShares", "TestBrowserPlaysAtFullSpeed", "TestContinuePastLimitAndFinish",
		"TestFilterOrderIsVisible", "TestNewestTextStaysInView", "TestNumbersViewEndsAsProse",
		"TestPhoneDoesNotScrollWhileScrubbing", "TestPhoneKeepsTheStageInView", "TestScrubberAndWhatIfSliders",
		"TestScrubberBeyondShortenedText", "TestWorkedLineIsNotCutOff",
	}},
	part{name: "learn-home", packages: []string{"./web/learn"}, tests: []string{
		"TestHomeIsShort", "TestHomePlaysTheLoop", "TestHomeRevealsNothingEarly", "TestHomeWithReducedMotion",
		"TestFirstPageIsLight", "TestHomeWritesFirst", "TestOpeningsFitTheField", "TestPhoneMenu",
		"TestSearchFromAnyPage",
		"TestSearchTypedBeforeTheScript", "TestFirstScreenHasAnExercise",
	}},
	part{name: "learn-lessons", packages: []string{"./web/learn"}, tests: []string{
		"TestExperimentMotion", "TestExperimentPlays", "TestExperimentReportsErrorsInPlace",
		"TestExperimentWithReducedMotion", "TestExperimentWithoutAScript", "TestLessonOnPaper",
		"TestNumbersFoldedAndRemembered", "TestPictureFollowsTheText", "TestReadingIsNoticed",
		"TestReadingIsReportedAgain", "TestReferencePrintsOnOneSheet", "TestSlowExperimentFinishesInPlace",
		"TestExperimentsOnOtherModels", "TestPictureNeedsAgreeWithPlainArithmetic",
	}},
	part{name: "practice-cards", packages: []string{"./web/practice"}, tests: []string{
		"TestCardByHash", "TestCardsAreSaved", "TestCardsByKeyboard", "TestCardsByTouch", "TestCardsOnPaper",
		"TestDrillAddressIsReproducible", "TestDrillArrowKeys", "TestDrillByKeyboard", "TestDrillFastTyping",
		"TestDrillNamesMistakes", "TestHelpFollowsTheFocus", "TestPredictByKeyboard",
		"TestProgressFileRestoresProgress", "TestQuizShowsOneQuestion",
	}},
	part{name: "labs-results", packages: []string{"./web/labs"}, tests: []string{
		"TestBillGrowsPerToken", "TestBillJSONFollowsFieldsInBrowser", "TestErrorNextToFieldInBrowser",
		"TestFeedRunsEveryLab", "TestFirstChartFitsPhones", "TestGuessIsDrawnAsBars",
		"TestGuessIsMarkedInTheRace", "TestJSONFollowsUnderTheCaret", "TestRingsAreDragged",
		"TestRowsAreSaved", "TestSpeculationRoundsInWords",
	}},
	part{name: "class-phones", packages: []string{"./web/classroom"}, tests: []string{
		"TestClickerKeysDriveTheWalk", "TestLookInsideOnWallAndPhone", "TestManyNamesInTheStripDoNotOverlap",
		"TestMessagesWaitForTheMarker", "TestPhoneLooksAroundAndRejoins", "TestPhoneRunsAloneAndRejoins",
		"TestRemovedMemberIsTold", "TestSecondPresenterMayTakeOver", "TestSleepingPhoneReconnects",
		"TestStageMotionOnWallAndPhones", "TestInstructorPagesReflow", "TestVoteDuringAnOutageCounts",
		"TestVotesFitTheWall",
	}},
	part{name: "cluster-outages", packages: []string{"./web/cluster"}, tests: []string{
		"TestCutOffOwnerConfirmsNothing", "TestCutOffServerLosesItsLease", "TestFullNodeIsNotReady",
		"TestNATSAwayAndBack", "TestServerLeavesNodeThatStoresNothing", "TestStartsBeforeThereIsALeader",
		"TestLeaseEndIsNotified",
	}},
	part{name: "command-cluster", packages: []string{"./cmd/viz"}, tests: []string{
		"TestClassSpansClusterServers", "TestDataSurvivesCopyToAClusterAndBack",
		"TestExampleProxiesReachAllServers", "TestLoadAlternatesBetweenServers", "TestLoadReportIsComplete",
		"TestRoomsCommandOnACluster", "TestServerSurvivesNATSOutage", "TestShutdownWithDeafFollowers",
		"TestShutdownClosesSockets",
	}},
	part{name: "command-browser", packages: []string{"./cmd/viz"}, tests: []string{
		"TestBenchAccuracy", "TestBrowserOverTLS", "TestForwardAndBackThroughAllStages",
		"TestInputErrorsAppearBesideTheirControl", "TestKilledBetweenReviews", "TestPlayToAStop",
		"TestReloadShowsTheSameStage", "TestWhyJSONEqualsTheServers",
	}},
	part{name: "engine-exactness", packages: []string{"./infer", "./infer/lab"}, tests: []string{
		"TestQuantizedTextsDifferOnlyByRounding",
		"TestCostTriesShowWhatTheyPromise", "TestTriesShowWhatTheyPromise",
		"TestSpeculationTriesShowWhatTheyPromise", "TestIndependentPairYieldsFormula",
		"TestLabsThroughPoolsEqualSoloRuns",
	}},
	part{name: "first-run-pages", packages: []string{"./web/first"}, tests: []string{
		"TestBrowserEnterContinues", "TestCardPicturesAreSaved", "TestFirstRunBeforeItsScripts",
		"TestFirstRunMotion", "TestFirstRunShowsPendingAnswer",
	}},
	part{name: "why-pages", packages: []string{"./web/why"}, tests: []string{
		"TestBrowserByKeys", "TestBrowserFormsByKeys", "TestBrowserFromTheLoop", "TestBrowserOnAPhone",
	}},
	part{name: "site-image", packages: []string{"./web/site/image"}, tests: []string{
		"TestImageRestoresTheProgram", "TestProgramsWithoutVisitorsHaveNoImage",
	}},
	part{name: "site-contents", packages: []string{"./web/site"}, tests: []string{
		"TestFirstVisitDownloadSize", "TestPagesWithoutServiceWorker", "TestSameAsTheTrace",
		"TestSiteIncludesOwnLessons",
		"TestSiteIsReproducible",
	}},
	part{name: "web-pages", packages: []string{"./web"}, tests: []string{
		"TestClassPagesReflow", "TestFeedReconnects", "TestPagesOnPaperAndInForcedColors",
	}},
	part{name: "page-boxes", packages: []string{"./web"}, tests: []string{
		"TestMainPagesFitTheirScreens",
	}},
	part{name: "hostile-requests", packages: []string{"./web"}, tests: []string{
		"TestHostileAPIClient", "TestHostileClientAsksWhy", "TestLongestQuestionsAreAnswered",
	}},
	part{name: "words-and-unused-pages", packages: []string{
		"./web/stage", "./web/journal", "./web/store", "./cmd/viz/ci",
	}, tests: []string{
		"TestEveryWordIsInTheCatalog", "TestDeletedRowsAreGoneFromUnusedPages", "TestScrubIsRetried",
		"TestPartsEndedByTheClock",
	}},
)

// badNetworks splits the thousand schedules into ten parts, by the last digit of their numbers.
func badNetworks() (list []part) {
	for digit := range 10 {
		list = append(list, part{
			name:     fmt.Sprint("bad-networks-", digit),
			packages: []string{"./cmd/viz"},
			tests:    []string{"TestClassOverBadNetworks"},
			sub:      fmt.Sprintf("^schedule_[0-9]*%d$", digit),
		})
	}
	return list
}
