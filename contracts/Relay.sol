// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";
import {Pausable} from "@openzeppelin/contracts/utils/Pausable.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

import {IRelay} from "./interfaces/IRelay.sol";

/// @title Relay
/// @notice See {IRelay}.
contract Relay is IRelay, Ownable2Step, Pausable, ReentrancyGuardTransient {
    /// @notice The gas that must remain, in addition to a call's limit, before the call is made. It pays for the work
    /// around the call (at most two bitmap words written and one read, the cold access to the target, the failure
    /// event) and for the end of the batch. The value is generous on purpose: if it is too high, a batch only stops a
    /// little earlier, and the remaining calls run in a later batch. It suffices where a new storage slot costs 108,000
    /// gas (EIP-8037).
    uint256 public constant GAS_RESERVE = 300_000;

    /// @notice The number of bytes of revert data that are copied into {CallFailed}.
    uint256 public constant MAX_REASON_LENGTH = 256;

    /// @dev Means "no word loaded". No number has this bucket, because a bucket is a number shifted right by 8.
    uint256 private constant _NO_BUCKET = type(uint256).max;

    /// @dev A bitmap with 256 numbers in each word, so that neighbouring numbers share one storage write.
    mapping(uint256 bucket => uint256 word) private _consumed;

    mapping(address account => bool) private _operators;

    /// @inheritdoc IRelay
    string public hostedBaseURI;

    /// @inheritdoc IRelay
    uint256 public ownershipEpoch;

    /// @param initialOwner The account that administers the relay.
    /// @param hostedBaseURI_ The base of all hosted URIs, ending in a slash.
    constructor(address initialOwner, string memory hostedBaseURI_) Ownable(initialOwner) {
        hostedBaseURI = hostedBaseURI_;
        emit HostedBaseURIUpdated(hostedBaseURI_);
    }

    /// @inheritdoc IRelay
    function execute(Call[] calldata calls) external nonReentrant whenNotPaused returns (uint256 executed) {
        if (!_operators[msg.sender]) revert RelayUnauthorizedOperator(msg.sender);

        // The current bitmap word stays on the stack until a number of another word comes. No other code can write it
        // in the meantime: every function that consumes numbers has the reentrancy guard.
        uint256 bucket = _NO_BUCKET;
        uint256 word;

        for (; executed < calls.length; ++executed) {
            Call calldata item = calls[executed];
            bytes calldata data = item.data;
            uint256 gasLimit = item.gasLimit;
            if (gasleft() < _gasNeeded(gasLimit, data.length)) break;

            uint256 number = item.number;
            if (number >> 8 != bucket) {
                if (bucket != _NO_BUCKET) _consumed[bucket] = word;
                bucket = number >> 8;
                word = _consumed[bucket];
            }
            uint256 bit = 1 << (number & 0xff);
            if (word & bit != 0) {
                emit CallSkipped(number);
                continue;
            }
            word |= bit;
            _run(number, item.target, gasLimit, data);
        }

        if (bucket != _NO_BUCKET) _consumed[bucket] = word;
        emit BatchExecuted(executed);
    }

    /// @inheritdoc IRelay
    function cancel(uint256[] calldata numbers) external nonReentrant {
        if (!_operators[msg.sender] && msg.sender != owner()) revert RelayUnauthorizedOperator(msg.sender);
        for (uint256 i = 0; i < numbers.length; ++i) {
            uint256 number = numbers[i];
            if (isConsumed(number)) continue;
            _consumed[number >> 8] |= 1 << (number & 0xff);
            emit NumberCancelled(number);
        }
    }

    /// @inheritdoc IRelay
    function setOperator(address operator, bool allowed) external onlyOwner {
        _operators[operator] = allowed;
        emit OperatorSet(operator, allowed);
    }

    /// @inheritdoc IRelay
    function pause() external onlyOwner {
        _pause();
    }

    /// @inheritdoc IRelay
    function unpause() external onlyOwner {
        _unpause();
    }

    /// @inheritdoc IRelay
    function setHostedBaseURI(string calldata newHostedBaseURI) external onlyOwner {
        hostedBaseURI = newHostedBaseURI;
        emit HostedBaseURIUpdated(newHostedBaseURI);
    }

    /// @inheritdoc IRelay
    function isOperator(address account) external view returns (bool) {
        return _operators[account];
    }

    /// @inheritdoc IRelay
    function executing() external view returns (bool) {
        return _reentrancyGuardEntered();
    }

    /// @notice Always reverts: without an owner, a stolen operator key could not be removed.
    function renounceOwnership() public view override onlyOwner {
        revert RelayOwnershipRequired();
    }

    /// @inheritdoc IRelay
    function isConsumed(uint256 number) public view returns (bool) {
        return _consumed[number >> 8] & (1 << (number & 0xff)) != 0;
    }

    /// @inheritdoc IRelay
    function owner() public view override(IRelay, Ownable) returns (address) {
        return super.owner();
    }

    /// @dev Counts the change of the owner.
    function _transferOwnership(address newOwner) internal override {
        ++ownershipEpoch;
        super._transferOwnership(newOwner);
    }

    /// @dev Returns the gas that must remain before a call. A caller keeps 1/64 of its gas (EIP-150), which is at most
    /// `gasLimit / 63` here. Copying the data costs 6 gas for each word plus, for memory expansion, the squared number
    /// of words divided by 512: less than 2 gas for each byte of any data that fits into a transaction. The function is
    /// virtual only for a test of what happens when this estimate is too low.
    function _gasNeeded(uint256 gasLimit, uint256 dataLength) internal pure virtual returns (uint256) {
        unchecked {
            // Cannot overflow: the limit is below 2^32, and the length is bounded by the size of a transaction.
            return gasLimit + gasLimit / 63 + GAS_RESERVE + 2 * dataLength;
        }
    }

    /// @dev Runs one call whose number was just consumed. Emits {CallFailed} if the call fails.
    function _run(uint256 number, address target, uint256 gasLimit, bytes calldata data) private {
        if (data.length < 4) {
            emit CallFailed(number, abi.encodeWithSelector(RelayDataTooShort.selector, data.length));
            return;
        }
        if (target.code.length == 0 || target == address(this)) {
            emit CallFailed(number, abi.encodeWithSelector(RelayInvalidTarget.selector, target));
            return;
        }
        if (_call(number, target, gasLimit, data)) return;

        // If the call ran out of gas because it received less than its limit, less than 1/63 of the limit remains here,
        // because a caller keeps 1/64 of its gas (EIP-150). The check before the call rules this out, unless a hard
        // fork changes gas prices.
        if (gasleft() < gasLimit / 63) revert RelayCallStarved(number, gasLimit);
        emit CallFailed(number, _reason());
    }

    /// @dev Calls `target` with `data` followed by `suffix`, the request number. Written in assembly because a Solidity
    /// call copies all returned data into memory: a target that returns a megabyte would use up the gas of the whole
    /// batch.
    function _call(
        uint256 suffix,
        address target,
        uint256 gasLimit,
        bytes calldata data
    ) private returns (bool success) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            // Uses the memory behind the free memory pointer without reserving it, so the next call uses it again.
            let input := mload(0x40)
            calldatacopy(input, data.offset, data.length)
            mstore(add(input, data.length), suffix)
            success := call(gasLimit, target, 0, input, add(data.length, 0x20), 0, 0)
        }
    }

    /// @dev Returns the revert data of the last call, cut at {MAX_REASON_LENGTH}. Written in assembly for the same
    /// reason as {_call}.
    function _reason() private pure returns (bytes memory reason) {
        // solhint-disable-next-line no-inline-assembly
        assembly ("memory-safe") {
            let length := returndatasize()
            if gt(length, MAX_REASON_LENGTH) {
                length := MAX_REASON_LENGTH
            }
            reason := mload(0x40)
            mstore(reason, length)
            returndatacopy(add(reason, 0x20), 0, length)
            mstore(0x40, add(reason, and(add(length, 0x3f), not(0x1f))))
        }
    }
}
